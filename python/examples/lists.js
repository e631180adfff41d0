// List scheduling without any package: FIFO or shortest job first, strict or skipping.
//
//     node lists.js fifo|sjf strict|skip
//
// lists.py, lists.c and lists.rs are the same program.
"use strict";
const [order, blocking] = process.argv.slice(2);
let free = []; // GPUs by server
let waiting = []; // jobs in the order in which they are served

function answer(question) {
  if (question.hello) {
    free = question.hello.servers.map(() => 0);
    return { hello: { name: `${order}-${blocking}`, class: "N", place: "pool" } };
  }
  for (const [server, gpus] of question.free) free[server] = gpus;
  for (const job of question.arrived) waiting.push({ key: order === "sjf" ? job.duration : 0, ...job });
  waiting.sort((a, b) => a.key - b.key || a.job - b.job);
  let idle = free.reduce((sum, gpus) => sum + gpus, 0);
  const start = [], left = [];
  for (const job of waiting) {
    if (job.gpus <= idle && !(left.length && blocking === "strict")) {
      idle -= job.gpus;
      start.push([job.job]);
    } else {
      left.push(job);
    }
  }
  waiting = left;
  return { start };
}

require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const question = JSON.parse(line);
  if (question.hello || "now" in question) process.stdout.write(JSON.stringify(answer(question)) + "\n");
});
