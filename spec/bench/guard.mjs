/** Prints the ratios of a few subjects, measured briefly: for a test that notices when something takes twice as long. */
import { compare, median } from './requests/compare.mjs';
import { keepToOtherCores } from './requests/pinned-server.mjs';
import { scenarios } from './requests/scenarios.mjs';

keepToOtherCores();
const ratios = {};
for (const [key, name] of JSON.parse(process.argv[2])) {
  const rounds = await compare({ ...scenarios[key], key }, name, { requests: 300, rounds: 3, warmUp: 600, env: {} });
  ratios[name] = median(rounds.map(({ ratio }) => ratio));
}
console.log(JSON.stringify(ratios));
