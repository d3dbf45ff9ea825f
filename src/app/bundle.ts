import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The root folder of the product. */
export const ROOT = join(import.meta.dir, '../..')

/** The inputs of a bundle, besides the Bun release. */
const INGREDIENTS = ['src', 'cli', 'tui', 'bun.lock', 'tsconfig.json']

/** The scripts and styles of the pages, beside the bundle that they were made with. */
export const ASSETS = 'pages.json'

/** The files of the console, packed for browsers. */
export const CONSOLE = 'console.json'

/** What every command says of itself, without its code: help and completion load no command. */
export const OUTLINES = 'commands.json'

/** What only the making of the bundle can tell: of which commit it is, and the hash of the API's description. */
export const RELEASE_FACTS = 'release.json'

/** The facts of a release. */
export type Release = {
  /** Of the sources, in hexadecimal; `unknown` where there is no repository. */
  commit: string
  /** SHA-256 of the OpenAPI document without its `servers`; `unknown` where the sources make none. */
  openapi: string
}

export const NO_RELEASE: Release = { commit: 'unknown', openapi: 'unknown' }

/** The folder of the cached bundles; it has one folder for each state of the sources. */
export const shelfOf = (root: string): string => join(root, 'node_modules/.cache/svc')

/**
 * The file to load instead of two thousand modules, or null when none was made of the current sources. Its folder is a
 * hash of the path, size and time of each source file, and of Bun's revision.
 */
export function bundled(
  file: 'serve.js' | 'cli.js' | 'tui.js' | typeof ASSETS | typeof CONSOLE | typeof OUTLINES | typeof RELEASE_FACTS,
  root = ROOT,
): string | null {
  const path = join(shelfOf(root), nameOf(root), file)
  return existsSync(path) ? path : null
}

/** Loads the server, from its bundle if there is one: that takes a third of the time. */
export const loadServer = (): Promise<typeof import('./serve')> => import(bundled('serve.js') ?? './serve')

/** The bundle name for the current sources. */
export function nameOf(root: string): string {
  const states = INGREDIENTS.flatMap((name) => filesOf(join(root, name))).map((file) => {
    const { size, mtimeMs } = statSync(file)
    return `${file} ${size} ${mtimeMs}`
  })
  return Bun.hash([Bun.revision, ...states.sort()].join('\n')).toString(36)
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}
