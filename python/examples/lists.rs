// List scheduling without any crate: FIFO or shortest job first, strict or skipping.
//
//     rustc -O lists.rs && ./lists fifo|sjf strict|skip
//
// lists.py, lists.c and lists.js are the same program. The reader below reads the JSON
// that bench writes, numbers with a fraction as 0: nothing here needs them.
use std::collections::HashMap;
use std::io::{self, BufRead, Write};

enum Json {
    Number(i64),
    List(Vec<Json>),
    Object(HashMap<String, Json>),
    Other, // texts, null, true, false
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self, c: u8) -> bool {
        let found = self.text.get(self.at) == Some(&c);
        self.at += found as usize;
        found
    }

    fn string(&mut self) -> String {
        let from = self.at + 1;
        self.at = from;
        while self.text[self.at] != b'"' {
            self.at += if self.text[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        String::from_utf8_lossy(&self.text[from..self.at - 1]).into_owned()
    }

    fn value(&mut self) -> Json {
        match self.text[self.at] {
            b'{' => {
                let mut all = HashMap::new();
                self.at += 1;
                while !self.next(b'}') {
                    self.next(b',');
                    let key = self.string();
                    self.next(b':');
                    all.insert(key, self.value());
                }
                Json::Object(all)
            }
            b'[' => {
                let mut all = Vec::new();
                self.at += 1;
                while !self.next(b']') {
                    self.next(b',');
                    all.push(self.value());
                }
                Json::List(all)
            }
            b'"' => {
                self.string();
                Json::Other
            }
            _ => {
                let from = self.at;
                while !b",]}\n".contains(&self.text[self.at]) {
                    self.at += 1;
                }
                let word = std::str::from_utf8(&self.text[from..self.at]).unwrap();
                match word {
                    "null" | "true" | "false" => Json::Other,
                    _ => Json::Number(word.parse().unwrap_or(0)),
                }
            }
        }
    }
}

impl Json {
    fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(all) => all.get(key),
            _ => None,
        }
    }
    fn list(&self) -> &[Json] {
        match self {
            Json::List(all) => all,
            _ => &[],
        }
    }
    fn number(&self) -> i64 {
        match self {
            Json::Number(n) => *n,
            _ => 0,
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (order, blocking) = (&arguments[1], &arguments[2]);
    let mut free: Vec<i64> = Vec::new(); // GPUs by server
    let mut waiting: Vec<(i64, i64, i64)> = Vec::new(); // key, number and GPUs, as they are served
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let mut line = line.unwrap();
        line.push('\n');
        let question = Reader { text: line.as_bytes(), at: 0 }.value();
        if let Some(hello) = question.get("hello") {
            free = vec![0; hello.get("servers").unwrap().list().len()];
            writeln!(out, "{{\"hello\":{{\"name\":\"{}-{}\",\"class\":\"N\",\"place\":\"pool\"}}}}", order, blocking).unwrap();
        } else if question.get("now").is_some() {
            for pair in question.get("free").unwrap().list() {
                free[pair.list()[0].number() as usize] = pair.list()[1].number();
            }
            for job in question.get("arrived").unwrap().list() {
                let key = if order == "sjf" { job.get("duration").unwrap().number() } else { 0 };
                waiting.push((key, job.get("job").unwrap().number(), job.get("gpus").unwrap().number()));
            }
            waiting.sort();
            let mut idle: i64 = free.iter().sum();
            let (mut start, mut left) = (Vec::new(), Vec::new());
            for job in waiting {
                if job.2 <= idle && (left.is_empty() || blocking != "strict") {
                    idle -= job.2;
                    start.push(format!("[{}]", job.1));
                } else {
                    left.push(job);
                }
            }
            waiting = left;
            writeln!(out, "{{\"start\":[{}]}}", start.join(",")).unwrap();
        }
        out.flush().unwrap();
    }
}
