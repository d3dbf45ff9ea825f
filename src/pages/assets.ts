import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { sha256Hex } from '../kernel/crypto'

/** One file for browsers: its text, and packed for those that take it so. */
export type Asset = { type: string; text: string; gzip: Uint8Array<ArrayBuffer> }

/** The files by the names under which they are served; a name has the hash of its content. */
export type AssetSet = {
  files: Map<string, Asset>
  nameOf: Record<AssetName, string>
  /** What stands in the frame's page itself, and the hashes by which its policy allows it. */
  inline: { style: string; styleHash: string; script: string; scriptHash: string }
}

const ENTRIES = {
  embed: 'embed/main.ts',
  first: 'first/main.ts',
  widget: 'widget/main.ts',
  widgetText: 'text/main.ts',
  widgetStyle: 'widget/main.css',
  link: 'link/main.ts',
  inbox: 'inbox/main.ts',
  inboxStyle: 'inbox/main.css',
  live: 'live/main.ts',
  liveStyle: 'live/main.css',
  player: 'player/main.ts',
  reference: 'reference/main.ts',
  viewer: 'viewer/main.ts',
} as const
type AssetName = keyof typeof ENTRIES

/** What is kept beside the server's bundle: the text of each file. */
export type BuiltAssets = Record<AssetName, string>

const FOLDER = join(import.meta.dir, 'browser')
const HASH_LENGTH = 12
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

/** Bundles the sources of the pages: one file for each entry, made smaller. */
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

/** Gives the files their names; `load` is called once, when the first page is asked for. */
export function createAssets(load: () => Promise<BuiltAssets>) {
  let loaded: Promise<AssetSet> | null = null
  return (): Promise<AssetSet> => {
    loaded ??= load().then(named)
    // A failure is tried again with the next page.
    loaded.catch(() => {
      loaded = null
    })
    return loaded
  }
}

export type Assets = ReturnType<typeof createAssets>

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

/** As a policy names a text of a page (CSP 3). */
const sourceHash = (text: string): string => createHash('sha256').update(text).digest('base64')
