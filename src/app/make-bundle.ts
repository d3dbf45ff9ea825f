import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildAssets, buildConsole } from '../pages'
import { ASSETS, bundleCacheOf, bundled, CONSOLE, nameOf, OUTLINES, RELEASE_FACTS, ROOT } from './bundle'
import { releaseOf } from './release'

/** Number of bundles to keep. A server that is just starting may still read an older one. */
const STORED = 3

/** Modules find files beside them by `import.meta`. In the bundle, the path of the source file replaces it. */
const sourcePaths: Bun.BunPlugin = {
  name: 'source-paths',
  setup(build) {
    build.onLoad({ filter: /\/(src|cli|tui)\/.*\.ts$/ }, async ({ path }) => ({
      loader: 'ts',
      contents: (await Bun.file(path).text())
        .replaceAll('import.meta.dir', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
    }))
  },
}

/** Modules of `src` that commands load at run time and that are small enough for the bundle of the commands. */
const SMALL = /\/src\/(app\/(bundle|config|variables|production)|kernel\/config)\.ts$/

/**
 * Other modules of `src` that some commands need are larger than all commands, and the server's bundle has them too. So
 * the command line loads them from the bundle `server` when needed. Collects their paths in `taken`.
 */
const fromServer = (server: string, taken: Set<string>): Bun.BunPlugin => ({
  name: 'from-server',
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ kind, path, importer }) => {
      if (kind !== 'dynamic-import') return undefined
      const module = Bun.resolveSync(path, dirname(importer))
      if (!module.includes('/src/') || SMALL.test(module)) return undefined
      taken.add(module)
      // Uses another path than the module's own. Otherwise Bun would treat all other imports of the module as this one.
      return { path: `server${module}`, namespace: 'server' }
    })
    build.onLoad({ filter: /^server/, namespace: 'server' }, ({ path }) => ({
      loader: 'js',
      contents: `module.exports = require(${JSON.stringify(server)}).modules[${JSON.stringify(path.slice('server'.length))}]`,
    }))
  },
})

/** The dashboard is a bundle of its own, so that no other command loads it. */
const withoutDashboard: Bun.BunPlugin = {
  name: 'without-dashboard',
  setup(build) {
    build.onResolve({ filter: /\/tui\/start$/ }, ({ path, importer }) => ({
      path: Bun.resolveSync(path, dirname(importer)),
      external: true,
    }))
  },
}

/** Ink uses React's developer tools only in development mode. */
const withoutDevtools: Bun.BunPlugin = {
  name: 'without-devtools',
  setup(build) {
    build.onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: 'nothing' }))
    build.onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({
      loader: 'js',
      contents: 'export default { connectToDevTools() {}, initialize() {} }',
    }))
  },
}

/**
 * Bundles and compiles the server and the command line of `root`. Calls `say` at the start of each step. Does nothing
 * if the bundle exists.
 */
export async function makeBundle(root: string, say: (step: string) => void = () => {}): Promise<void> {
  if (isMade(root)) return
  const shelf = bundleCacheOf(root)
  const name = nameOf(root)
  mkdirSync(shelf, { recursive: true })
  const unfinished = mkdtempSync(join(shelf, `${name}.`))
  chmodSync(unfinished, 0o755)
  const release = releaseOf(root)
  try {
    const server = join(shelf, name, 'serve.js')
    const taken = new Set<string>()
    say('compiling the command line')
    await compile({
      entry: join(root, 'cli/entry.ts'),
      file: join(unfinished, 'cli.js'),
      plugins: [sourcePaths, fromServer(server, taken), withoutDashboard],
      external: [server],
    })
    say('compiling the server')
    const entry = join(unfinished, 'entry.ts')
    // The server, and the modules that the command line takes from it, by path.
    await Bun.write(
      entry,
      [
        `export * from ${JSON.stringify(join(root, 'src/app/serve.ts'))}`,
        ...[...taken].map((path, at) => `import * as module${at} from ${JSON.stringify(path)}`),
        `export const modules = { ${[...taken].map((path, at) => `${JSON.stringify(path)}: module${at}`).join(', ')} }`,
      ].join('\n'),
    )
    await compile({ entry, file: join(unfinished, 'serve.js'), plugins: [sourcePaths] })
    say('compiling the dashboard')
    const dashboard = join(root, 'tui/start.ts')
    const plugins = [sourcePaths, withoutDevtools]
    await compile({ entry: dashboard, file: join(unfinished, 'tui.js'), plugins, format: 'esm' })
    say('building the web pages')
    await Bun.write(join(unfinished, ASSETS), JSON.stringify(await buildAssets()))
    await Bun.write(join(unfinished, CONSOLE), JSON.stringify(await buildConsole()))
    const { allCommands } = await import(join(root, 'cli/registry.ts'))
    await Bun.write(join(unfinished, OUTLINES), JSON.stringify(await allCommands()))
    await Bun.write(join(unfinished, RELEASE_FACTS), JSON.stringify(await release))
    renameSync(unfinished, join(shelf, name))
  } catch (error) {
    // The rename fails if another process built the same bundle meanwhile.
    if (!isMade(root)) throw error
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  const madeAt = (name: string) => statSync(join(shelf, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const byAge = readdirSync(shelf).sort((a, b) => madeAt(b) - madeAt(a))
  for (const name of byAge.slice(STORED)) rmSync(join(shelf, name), { recursive: true, force: true })
}

const isMade = (root: string): boolean => bundled('serve.js', root) !== null

type Input = { entry: string; file: string; plugins: Bun.BunPlugin[]; external?: string[]; format?: 'cjs' | 'esm' }

async function compile({ entry, file, format = 'cjs', ...rest }: Input): Promise<void> {
  await Bun.build({
    entrypoints: [entry],
    outdir: dirname(file),
    naming: basename(file),
    target: 'bun',
    format,
    // Compiled code cannot use top-level await, which the dashboard's layout engine does.
    bytecode: format === 'cjs',
    define: { 'process.env.NODE_ENV': '"production"' },
    sourcemap: 'linked',
    ...rest,
  })
  // The first error in a server reads the map on the main thread. The source texts are two thirds of the map, so they
  // are removed.
  const map = await Bun.file(`${file}.map`).json()
  await Bun.write(`${file}.map`, JSON.stringify({ ...map, sourcesContent: map.sources.map(() => '') }))
}

if (import.meta.main) {
  const say = (line: string) => void process.stderr.write(`  ${line}\n`)
  await makeBundle(ROOT, say).catch((error: unknown) => {
    say(`not compiled (${String(error)}); svc works without it, but starts more slowly`)
  })
}
