import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildAssets } from '../pages'
import { ASSETS, bundled, nameOf, ROOT, shelfOf } from './bundle'

/** How many bundles are kept: a server that is just starting may still read an older one. */
const KEPT = 3

/** Modules find files beside them by `import.meta`; in the bundle it is replaced by the path of the source file. */
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

/** What only a command without a server needs. It stays in the sources, because it is larger than all commands. */
const withoutServer: Bun.BunPlugin = {
  name: 'without-server',
  setup(build) {
    build.onResolve(
      { filter: /\/src\/(app\/(open|lock)|kernel\/store|[a-z-]+\/review)$/ },
      ({ kind, path, importer }) =>
        kind === 'dynamic-import' ? { path: Bun.resolveSync(path, dirname(importer)), external: true } : undefined,
    )
  },
}

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

/** Ink asks for the tools of React's developers only in their own mode. */
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

/** Bundles and compiles the server and the command line of `root`. Does nothing when they are there. */
export async function makeBundle(root = ROOT): Promise<void> {
  if (isMade(root)) return
  const shelf = shelfOf(root)
  const name = nameOf(root)
  mkdirSync(shelf, { recursive: true })
  const unfinished = mkdtempSync(join(shelf, `${name}.`))
  chmodSync(unfinished, 0o755)
  try {
    await compile(join(root, 'src/app/serve.ts'), join(unfinished, 'serve.js'), [sourcePaths])
    await compile(join(root, 'cli/enter.ts'), join(unfinished, 'cli.js'), [
      sourcePaths,
      withoutServer,
      withoutDashboard,
    ])
    await compile(join(root, 'tui/start.tsx'), join(unfinished, 'tui.js'), [sourcePaths, withoutDevtools], 'esm')
    await Bun.write(join(unfinished, ASSETS), JSON.stringify(await buildAssets()))
    renameSync(unfinished, join(shelf, name))
  } catch (error) {
    // The rename fails when another process has made the same bundle meanwhile.
    if (!isMade(root)) throw error
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  discardOld(shelf)
}

const isMade = (root: string): boolean => bundled('serve.js', root) !== null

const compile = (
  entry: string,
  file: string,
  plugins: Bun.BunPlugin[],
  format: 'cjs' | 'esm' = 'cjs',
): Promise<Bun.BuildOutput> =>
  Bun.build({
    entrypoints: [entry],
    outdir: dirname(file),
    naming: basename(file),
    target: 'bun',
    format,
    // Compiled code cannot wait at its top, as the dashboard's layout engine does.
    bytecode: format === 'cjs',
    define: { 'process.env.NODE_ENV': '"production"' },
    sourcemap: 'linked',
    plugins,
  })

function discardOld(shelf: string): void {
  const madeAt = (name: string) => statSync(join(shelf, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const byAge = readdirSync(shelf).sort((a, b) => madeAt(b) - madeAt(a))
  for (const name of byAge.slice(KEPT)) rmSync(join(shelf, name), { recursive: true, force: true })
}

if (import.meta.main) {
  await makeBundle().catch((error: unknown) => {
    process.stderr.write(`No bundle was made (${String(error)}); a start loads the sources, which takes longer.\n`)
  })
}
