package profile

// Architectures lists the nine models of the A-SRPT paper with the mini-batches
// of its Table I.
func Architectures() []*Architecture {
	return []*Architecture{
		VGG19(32), ResNet152(4), InceptionV3(32), BERTLarge(4), XLNetLarge(4), T5(8), GPT6B(32), GPT13B(32), GPT175B(16),
	}
}

// Builtin returns the profiles of the nine models on a GPU of [GPUs], derived
// anew by [Derive].
//
// Errors: there is no such GPU.
func Builtin(gpu string) ([]Profile, error) {
	g, err := FindGPU(gpu)
	if err != nil {
		return nil, err
	}
	var list []Profile
	for _, a := range Architectures() {
		p, err := Derive(a, g)
		if err != nil {
			return nil, err
		}
		list = append(list, *p)
	}
	return list, nil
}
