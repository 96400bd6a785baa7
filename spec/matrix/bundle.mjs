/** Compiles or bundles a program of a project of the matrix, with the tool and for the decorators that are named, and runs what comes out. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , tool, file, decorators] = process.argv;
const out = resolve('out', `${tool}-${decorators}.cjs`);
const tsconfig = resolve(decorators, 'tsconfig.json');
const isLegacy = decorators === 'legacy';

const builds = { esbuild, webpack, rollup, babel };
await builds[tool.split(' ')[0]]();
await import(pathToFileURL(out).href);

async function esbuild() {
  const { build } = await import(tool === 'esbuild 0.21.0' ? 'esbuild-0.21' : 'esbuild');
  // With the default target, ESNext, standard decorators stay as they are.
  const target = tool === 'esbuild without target' ? {} : { target: 'node22' };
  await build({
    entryPoints: [file],
    bundle: true,
    platform: 'node',
    ...target,
    tsconfig,
    outfile: out,
    logLevel: 'error',
  });
}

async function webpack() {
  const { default: compiler } = await import('webpack');
  const transform = isLegacy ? { legacyDecorator: true } : { decoratorVersion: '2022-03' };
  const loader =
    tool === 'webpack with ts-loader'
      ? { loader: 'ts-loader', options: { configFile: tsconfig, onlyCompileBundledFiles: true } }
      : {
          loader: 'swc-loader',
          options: { jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true }, transform } },
        };
  // In production mode, what has no side effects is dropped.
  const configuration = {
    mode: 'production',
    target: 'node22',
    entry: resolve(file),
    output: { path: resolve('out'), filename: `${tool}-${decorators}.cjs` },
    resolve: { extensions: ['.ts', '.js'] },
    module: { rules: [{ test: /\.ts$/, use: loader }] },
  };
  await new Promise((done, failed) => {
    compiler(configuration, (error, stats) => {
      if (error || stats.hasErrors()) failed(error ?? new Error(stats.toString('errors-only')));
      else done();
    });
  });
}

async function rollup() {
  const { rollup: bundle } = await import('rollup');
  const plugin = async (name, options) => (await import(`@rollup/plugin-${name}`)).default(options);
  const plugins = await Promise.all([
    plugin('typescript', { tsconfig, outDir: 'out', module: 'esnext', moduleResolution: 'bundler' }),
    plugin('node-resolve', { preferBuiltins: true, exportConditions: ['node'] }),
    plugin('commonjs'),
    plugin('json'),
  ]);
  const built = await bundle({ input: file, plugins, onwarn() {} });
  await built.write({ file: out, format: 'cjs' });
}

async function babel() {
  const {
    default: { transformFileAsync },
  } = await import('@babel/core');
  const { mkdir, writeFile } = await import('node:fs/promises');
  const version = isLegacy ? 'legacy' : tool.split(' ')[1];
  const plugins = [
    '@babel/plugin-transform-typescript',
    ['@babel/plugin-proposal-decorators', { version }],
    '@babel/plugin-transform-class-properties',
    '@babel/plugin-transform-class-static-block',
    '@babel/plugin-transform-modules-commonjs',
  ];
  const { code } = await transformFileAsync(file, { configFile: false, plugins });
  await mkdir('out', { recursive: true });
  await writeFile(out, code);
}
