// One connection of a program that is not Python: decides, and tells rewards late, repeatedly and out of order.
// node worker.mjs FOLDER_OF_THE_CLIENT URL SEED DECISIONS ARMS(JSON); prints how often each arm was rewarded with what.
import { pathToFileURL } from "node:url";

const [folder, url, seed, decisions, arms] = process.argv.slice(2);
const { Site, SiteError } = await import(pathToFileURL(`${folder}/index.js`).href);
const site = new Site(url, { timeout: 2000 });
let state = Number(seed) + 1;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;

/** Ask until there is an answer: the service may be away for a moment. */
async function insist(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof SiteError) || !error.mayPass) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

const waiting = [];
const told = {};
async function tell(entry) {
  await insist(() => site.learn(entry.id, entry.reward));
  if (random() < 0.2 && (await insist(() => site.learn(entry.id, entry.reward)))) throw new Error("new once more");
  const key = `${entry.arm}:${entry.reward}`;
  told[key] = (told[key] ?? 0) + 1;
}

for (let turn = 0; turn < Number(decisions); turn++) {
  const decision = await insist(() => site.choose({ arms: JSON.parse(arms) }));
  waiting.push({ id: decision.id, arm: decision.arm, reward: Math.floor(random() * 17) / 16 });
  while (waiting.length > 20) await tell(waiting.splice(Math.floor(random() * waiting.length), 1)[0]);
}
while (waiting.length) await tell(waiting.pop());
console.log(JSON.stringify(told));
