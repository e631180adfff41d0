package suite

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// DecodeYAML decodes a text that is no suite: unknown keys are ignored.
//
// Errors: it is not YAML, or more than one document.
func DecodeYAML(data []byte, into any) (err error) {
	defer panicked(&err)
	if data, err = plainText(data); err != nil {
		return err
	}
	if _, err := check(data, nil); err != nil {
		return err
	}
	return yaml.Unmarshal(data, into)
}

// decodeStrictly decodes (a part of) a suite, and returns where it has what. What the
// YAML reader would drop or make fit without a word is an error: unknown and repeated
// keys, all that the checker refuses.
func decodeStrictly(data []byte, into any) (where places, err error) {
	defer panicked(&err)
	if data, err = plainText(data); err != nil {
		return nil, err
	}
	t := reflect.TypeOf(into).Elem()
	if where, err = check(data, t); err != nil {
		return where, err
	}
	return where, explained(yaml.NewDecoder(bytes.NewReader(data), yaml.Strict(), yaml.UseJSONUnmarshaler()).Decode(into), t)
}

// explained makes what the YAML reader says of a value a keyError that says what would
// be right: the nearest key of the type, or what the value must be.
func explained(err error, t reflect.Type) error {
	var unknown *yaml.UnknownFieldError
	var mistyped *yaml.TypeError
	var other yaml.Error
	switch {
	case errors.As(err, &unknown):
		key := unknown.Token.Value
		message := fmt.Sprintf("unknown field %q", key)
		switch best := Nearest(key, keysOf(t)); best {
		case "":
		case key:
			message += ": there is such a key, but not here: bench config schema says where"
		default:
			message += fmt.Sprintf(": the nearest key is %q", best)
		}
		return &keyError{token: unknown.Token, message: message, unknown: true}
	case errors.As(err, &mistyped):
		return &keyError{token: mistyped.Token, message: fmt.Sprintf("%q must be %s", mistyped.Token.Value, wanted(mistyped.DstType))}
	case errors.As(err, &other):
		return &keyError{token: other.GetToken(), message: other.GetMessage()}
	}
	return err
}

// keysOf lists every key of a type, wherever it stands.
func keysOf(t reflect.Type) (keys []string) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name != "" && name != "-" {
			keys = append(append(keys, name), keysOf(t.Field(i).Type)...)
		}
	}
	return keys
}

// panicked makes an error of a panic: the YAML reader has some on texts that are
// not YAML, which fuzzing finds.
func panicked(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("this is not YAML: the reader fails with %v", p)
	}
}

// keyError is a key that there is not, or a value that one cannot have.
type keyError struct {
	path    string // "" if only the token is known
	token   *token.Token
	message string
	unknown bool // there is no such key
}

func (e *keyError) Error() string {
	if e.path == "" {
		return e.message
	}
	return e.path + ": " + e.message
}

// located returns the error after its place.
func (e *keyError) located() error {
	if e.token == nil {
		return e
	}
	return at(e.token, e.Error())
}

// checker holds a document against the type that it is decoded into, and notes where
// what is.
type checker struct {
	anchors map[string]ast.Node
	places  places
	err     error
}

// keyed is a type that knows itself what its keys lead to: nil is anything.
type keyed interface{ keyType(key string) reflect.Type }

// renamed is a type that knows what has become of keys that it had.
type renamed interface{ renamed(key string) string }

// as returns a type's own knowledge, if it has that kind.
func as[K any](t reflect.Type) (k K, ok bool) {
	if t != nil {
		k, ok = reflect.Zero(t).Interface().(K)
	}
	return k, ok
}

// check finds what the YAML reader would take for something else: a second
// document; where the type is known, a number with a fraction or in quotes for a
// whole number, and texts, lists and numbers that are empty or no numbers. What is
// not YAML, and what is of another kind altogether, the reader says better.
func check(data []byte, t reflect.Type) (places, error) {
	file, err := parseYAML(data)
	if err != nil {
		return nil, nil
	}
	if err := oneDocument(data); err != nil {
		return nil, err
	}
	for _, doc := range file.Docs {
		if err := countValues(doc.Body); err != nil {
			return nil, err
		}
	}
	c := &checker{anchors: map[string]ast.Node{}, places: places{}}
	if t != nil && len(file.Docs) > 0 && file.Docs[0].Body != nil {
		c.value(file.Docs[0].Body, t, "", 0)
	}
	return c.places, c.err
}

func parseYAML(data []byte) (file *ast.File, err error) {
	defer panicked(&err)
	return parser.ParseBytes(data, 0)
}

// oneDocument looks at the tokens, because the reader drops whatever follows an
// empty document.
func oneDocument(data []byte) error {
	content, ended := false, false
	for _, tk := range lexer.Tokenize(string(data)) {
		switch {
		case tk.Type == token.DirectiveType:
			return &keyError{token: tk, message: "directives such as %YAML are not read: drop the line"}
		case tk.Type == token.CommentType:
		case tk.Type == token.DocumentHeaderType, tk.Type == token.DocumentEndType:
			ended = content
		case ended:
			return &keyError{token: tk, message: "a second YAML document begins here, and one is read: make it a file of its own"}
		default:
			content = true
		}
	}
	return nil
}

// refuse notes the first error.
func (c *checker) refuse(n ast.Node, path, format string, args ...any) {
	if c.err == nil {
		c.err = &keyError{path: path, token: n.GetToken(), message: fmt.Sprintf(format, args...)}
	}
}

// value checks a value of the given type; nil is any.
func (c *checker) value(n ast.Node, t reflect.Type, path string, depth int) {
	if depth > Deepest {
		c.refuse(n, "", "values lie more than %d deep here: is an alias part of itself?", Deepest)
		return
	}
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		c.anchors[n.Name.GetToken().Value] = n.Value
		c.value(n.Value, t, path, depth+1)
	case *ast.AliasNode:
		if to := c.anchors[n.Value.GetToken().Value]; to != nil {
			c.value(to, t, path, depth+1)
		}
	case *ast.TagNode:
		c.refuse(n, path, "tags such as %s are not read: write the value alone", n.GetToken().Value)
	case *ast.MappingNode:
		for _, v := range n.Values {
			c.entry(v, t, path, depth)
		}
	case *ast.MappingValueNode:
		c.entry(n, t, path, depth)
	case *ast.SequenceNode:
		c.list(n, t, path, depth)
	default:
		c.scalar(n, t, path)
	}
}

// entry checks one key of a mapping and its value.
func (c *checker) entry(n *ast.MappingValueNode, t reflect.Type, path string, depth int) {
	if _, merge := n.Key.(*ast.MergeKeyNode); merge {
		c.value(n.Value, t, path, depth+1)
		return
	}
	key := n.Key.GetToken().Value
	inner := strings.TrimPrefix(path+"."+key, ".")
	c.places[inner] = place{n.Key.GetToken(), tokenOf(n.Value)}
	if old, ok := as[renamed](t); ok && old.renamed(key) != "" {
		c.refuse(n.Key, inner, "%s", old.renamed(key))
	}
	c.value(n.Value, innerType(t, key), inner, depth+1)
}

// tokenOf returns the first token of a value, after its anchor.
func tokenOf(n ast.Node) *token.Token {
	if a, ok := n.(*ast.AnchorNode); ok {
		n = a.Value
	}
	return n.GetToken()
}

// innerType returns the type of what a key leads to, or nil: then any value will do
// here, and the key's own reader judges it.
func innerType(t reflect.Type, key string) reflect.Type {
	if k, ok := as[keyed](t); ok {
		return k.keyType(key)
	}
	if t != nil && t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name == key && name != "-" {
				return t.Field(i).Type
			}
		}
	}
	return nil
}

// list checks a list. An empty one says nothing, but for references: there it says
// that there are none.
func (c *checker) list(n *ast.SequenceNode, t reflect.Type, path string, depth int) {
	if len(n.Values) == 0 && path != "references" && !strings.HasSuffix(path, "].references") {
		c.refuse(n, path, "the list is empty: give it a value, or drop the key")
	}
	var element reflect.Type
	if t != nil && t.Kind() == reflect.Slice {
		element = t.Elem()
	}
	for i, v := range n.Values {
		inner := fmt.Sprintf("%s[%d]", path, i)
		c.places[inner] = place{value: tokenOf(v)}
		c.value(v, element, inner, depth+1)
	}
}

// scalar checks a single value.
func (c *checker) scalar(n ast.Node, t reflect.Type, path string) {
	text := n.GetToken().Value
	switch n := n.(type) {
	case *ast.NullNode:
		c.refuse(n, path, "the key has no value: give it one, or drop it")
		return
	case *ast.NanNode, *ast.InfinityNode:
		c.refuse(n, path, "%q must be a number that is finite", text)
		return
	case *ast.FloatNode:
		if math.IsInf(n.Value, 0) || math.IsNaN(n.Value) {
			c.refuse(n, path, "%q must be a number that is finite", text)
			return
		}
	case *ast.StringNode:
		if strings.TrimSpace(n.Value) == "" {
			c.refuse(n, path, "the text is empty: give the key a value, or drop it")
			return
		}
	}
	if t == nil {
		return
	}
	if t == reflect.TypeFor[time.Duration]() {
		if _, isText := n.(*ast.StringNode); !isText || !isDuration(text) {
			c.refuse(n, path, "%q must be %s", text, wanted(t))
		}
		return
	}
	if itself, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
		c.readsItself(n, itself, path)
		return
	}
	integer, isInteger := n.(*ast.IntegerNode)
	_, isFloat := n.(*ast.FloatNode)
	_, isBool := n.(*ast.BoolNode)
	switch kind := t.Kind(); {
	case kind >= reflect.Int && kind <= reflect.Uint64:
		if !isInteger || !fitsInto(integer.Value, t) {
			c.refuse(n, path, "%q must be %s", text, wanted(t))
		}
	case kind == reflect.Float64 && !isInteger && !isFloat, kind == reflect.Bool && !isBool:
		c.refuse(n, path, "%q must be %s", text, wanted(t))
	}
}

func isDuration(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil
}

// readsItself lets a type of ours read a value as the YAML reader will. What is no text
// the reader says better.
func (c *checker) readsItself(n ast.Node, into encoding.TextUnmarshaler, path string) {
	var text string
	if yaml.NodeToValue(n, &text) != nil {
		return
	}
	if err := into.UnmarshalText([]byte(text)); err != nil {
		c.refuse(n, path, "%v", err)
	}
}

// fitsInto reports whether a whole number is one of the type.
func fitsInto(v any, t reflect.Type) bool {
	switch v := v.(type) {
	case int64:
		return t.Kind() < reflect.Uint || v >= 0
	case uint64:
		return t.Kind() >= reflect.Uint || v <= math.MaxInt64
	}
	return false // beyond 64 bits
}
