// Carries out the code in SCRIPT. A file, since a cluster worker cannot be forked from `node -e`.
const { createRequire } = require('node:module');

new Function('require', 'process', process.env.SCRIPT)(createRequire(__filename), process);
