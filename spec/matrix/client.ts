import type { Cell, Project } from './project';

const program = `
const answers = [503, 201];
const fetch = async () => new Response(null, { status: answers.shift() ?? 500 });
const send = idempotentFetch({ baseDelay: 1, fetch });
send('http://shop.example/', { method: 'POST', body: 'x' }).then(({ response, attempts }) => { console.log(response.status, attempts); });
`;
const imported = `import { idempotentFetch } from 'bindonce/client';${program}`;

/** Bundles for a browser, then runs the bundle. */
const bundled = (tool: string, command: string): Cell[] => [
  { name: `${tool}: bundle`, command: [tool, ...command.split(' ')] },
  { name: `${tool}: run`, command: ['node', `out/${tool}.js`], prints: /^201 2$/m },
];

const compilerOptions = {
  ...{ target: 'es2022', module: 'esnext', moduleResolution: 'bundler' },
  ...{ lib: ['es2022', 'dom'], types: [], strict: true, noEmit: true },
};

/** `bindonce/client` in the bundles of browsers, and in Node as both kinds of modules. */
export const client: Project = {
  area: 'tools',
  name: 'bindonce/client with esbuild, Rollup and webpack for browsers, tsc without @types/node, and Node',
  manager: 'npm',
  node: '24',
  packages: {
    ...{ express: '5', esbuild: '0', rollup: '4', '@rollup/plugin-node-resolve': '16' },
    ...{ webpack: '5', 'webpack-cli': '7', typescript: '5.9' },
  },
  files: {
    'main.mjs': imported,
    'main.cjs': `const { idempotentFetch } = require('bindonce/client');${program}`,
    'page/main.ts': imported,
    'page/tsconfig.json': JSON.stringify({ compilerOptions }),
  },
  cells: [
    ...bundled('esbuild', 'main.mjs --bundle --platform=browser --outfile=out/esbuild.js'),
    ...bundled('rollup', 'main.mjs -p node-resolve={browser:true} -f iife -o out/rollup.js'),
    ...bundled('webpack', '--mode=production --target=web --entry=./main.mjs -o out --output-filename=webpack.js'),
    { name: 'tsc', command: ['tsc', '-p', 'page'] },
    ...(['20', '26'] as const).flatMap(node => [
      { name: 'import', node, command: ['node', 'main.mjs'] as const, prints: /^201 2$/m },
      { name: 'require', node, command: ['node', 'main.cjs'] as const, prints: /^201 2$/m },
    ]),
  ],
};
