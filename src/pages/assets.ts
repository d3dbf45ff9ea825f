import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { sha256Hex } from '../kernel/crypto'

/** One file for browsers: its text, and its compressed forms. */
export type Asset = {
  type: string
  text: string
  gzip: Uint8Array<ArrayBuffer>
  brotli?: Uint8Array<ArrayBuffer>
}

/** The files by the names under which they are served. A name contains the hash of its content. */
export type AssetSet = {
  files: Map<string, Asset>
  nameOf: Record<AssetName, string>
  /** Inline parts of the frame's page, and the hashes that its policy allows. */
  inline: { style: string; styleHash: string; script: string; scriptHash: string }
}

const ENTRIES = {
  embed: 'embed/main.ts',
  first: 'first/main.ts',
  widget: 'widget/main.ts',
  widgetText: 'text/main.ts',
  widgetStyle: 'widget/main.css',
  link: 'link/main.ts',
  live: 'live/main.ts',
  liveStyle: 'live/main.css',
  player: 'player/main.ts',
  reference: 'reference/main.ts',
  viewer: 'viewer/main.ts',
} as const
type AssetName = keyof typeof ENTRIES

/** The text of each file, stored beside the server's bundle. */
export type BuiltAssets = Record<AssetName, string>

const FOLDER = join(import.meta.dir, 'browser')
const HASH_LENGTH = 12
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

/** Bundles the sources of the pages: one minified file for each entry. */
export async function buildAssets(): Promise<BuiltAssets> {
  const built = await Promise.all(
    Object.entries(ENTRIES).map(async ([name, entry]) => {
      const { outputs } = await Bun.build({
        entrypoints: [join(FOLDER, entry)],
        minify: true,
        target: 'browser',
        format: 'iife',
      })
      return [name, await outputs[0]!.text()]
    }),
  )
  return Object.fromEntries(built) as BuiltAssets
}

/** Gives the files their names. `load` is called once, for the first page. */
export const createAssets = (load: () => Promise<BuiltAssets>) => once(() => load().then(named))
export type Assets = ReturnType<typeof createAssets>

/** Calls `load` on first use. A failure is retried the next time. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | null = null
  return () => {
    loaded ??= load()
    loaded.catch(() => {
      loaded = null
    })
    return loaded
  }
}

/** One file of the console: its text, and its Brotli form in Base64. */
type ConsoleFile = { text: string; brotli: string }

/** The console's files by name. `parts` lists the script of each section with its imports, for preloading. */
export type BuiltConsole = {
  files: Record<string, ConsoleFile>
  script: string
  style: string
  parts: Record<string, string[]>
}

/** Bundles the console: an entry, a chunk for each section, and one style sheet. `quality` is Brotli's, 1 to 11. */
export async function buildConsole(quality = 9): Promise<BuiltConsole> {
  const options = {
    minify: true,
    target: 'browser',
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
  } as const
  const entry = (file: string) => join(FOLDER, 'console', file)
  const [scripts, sheet] = await Promise.all([
    Bun.build({ ...options, entrypoints: [entry('main.tsx')], splitting: true, metafile: true }),
    Bun.build({ ...options, entrypoints: [entry('console.css')] }),
  ])
  const files: BuiltConsole['files'] = {}
  for (const output of [...scripts.outputs, ...sheet.outputs]) {
    const text = await output.text()
    const packed = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
    files[basename(output.path)] = { text, brotli: packed.toString('base64') }
  }
  const script = basename(scripts.outputs.find(({ kind }) => kind === 'entry-point')!.path)
  const chart = Object.keys(files).filter((name) => name.startsWith('chart-'))
  const parts: BuiltConsole['parts'] = {}
  for (const [path, { entryPoint, imports }] of Object.entries(scripts.metafile!.outputs)) {
    const section = /console\/sections\/(\w+)\/\1\.tsx/.exec(entryPoint ?? '')?.[1]
    if (!section) continue
    const own = imports.filter(({ kind }) => kind === 'import-statement').map((one) => basename(one.path))
    // The overview loads its charts lazily but needs them at once.
    const later = section === 'overview' ? chart : []
    parts[section] = [basename(path), ...own, ...later].filter((name) => name !== script)
  }
  return { files, script, style: basename(sheet.outputs[0]!.path), parts }
}

/** The console's files as they are served. `load` is called once, for the first page. */
export const createConsoleAssets = (load: () => Promise<BuiltConsole>) =>
  once(async () => {
    const { files, ...names } = await load()
    const served = Object.entries(files).map(([name, { text, brotli }]) => {
      const type = TYPES[name.endsWith('.css') ? 'css' : 'js']
      const gzip = Bun.gzipSync(new TextEncoder().encode(text), { level: 9 })
      return [name, { type, text, gzip, brotli: Uint8Array.from(Buffer.from(brotli, 'base64')) }] as const
    })
    return { ...names, files: new Map<string, Asset>(served) }
  })
export type ConsoleAssets = ReturnType<typeof createConsoleAssets>

function named(built: BuiltAssets): AssetSet {
  const files = new Map<string, Asset>()
  const nameOf = {} as Record<AssetName, string>
  for (const [key, text] of Object.entries(built) as [AssetName, string][]) {
    const ending = ENTRIES[key].endsWith('.css') ? 'css' : 'js'
    const name = `${key}-${sha256Hex(text).slice(0, HASH_LENGTH)}.${ending}`
    nameOf[key] = name
    files.set(name, { type: TYPES[ending], text, gzip: Bun.gzipSync(new TextEncoder().encode(text), { level: 9 }) })
  }
  const { widgetStyle: style, first: script } = built
  return { files, nameOf, inline: { style, styleHash: sourceHash(style), script, scriptHash: sourceHash(script) } }
}

/** Hash of an inline text as a policy names it (CSP 3). */
const sourceHash = (text: string): string => createHash('sha256').update(text).digest('base64')
