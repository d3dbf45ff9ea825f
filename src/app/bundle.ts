import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The root folder of the product. */
export const ROOT = join(import.meta.dir, '../..')

/** The inputs of a bundle, besides the Bun release. */
const INGREDIENTS = ['src', 'cli', 'tui', 'bun.lock', 'tsconfig.json']

/** File with the scripts and styles of the pages. It lies beside the bundle it was built with. */
export const ASSETS = 'pages.json'

/** File with the console, packed for browsers. */
export const CONSOLE = 'console.json'

/** Descriptions of all commands without their code, so that help and completion load no command. */
export const OUTLINES = 'commands.json'

/** Facts known only when the bundle is built: its commit, and the hash of the API document. */
export const RELEASE_FACTS = 'release.json'

/** The facts of a release. */
export type Release = {
  /** Commit of the sources, in hexadecimal. `unknown` without a repository. */
  commit: string
  /** SHA-256 of the OpenAPI document without its `servers`. `unknown` if the sources cannot produce the document. */
  openapi: string
}

export const NO_RELEASE: Release = { commit: 'unknown', openapi: 'unknown' }

/** The folder of the cached bundles. It has one subfolder per state of the sources. */
export const bundleCacheOf = (root: string): string => join(root, 'node_modules/.cache/svc')

/**
 * The file to load instead of two thousand modules, or null if the current sources are not bundled. Its folder name is
 * a hash of the path, size and time of each source file, and of Bun's revision.
 */
export function bundled(
  file: 'serve.js' | 'cli.js' | 'tui.js' | typeof ASSETS | typeof CONSOLE | typeof OUTLINES | typeof RELEASE_FACTS,
  root = ROOT,
): string | null {
  const path = join(bundleCacheOf(root), nameOf(root), file)
  return existsSync(path) ? path : null
}

/** Loads the server, from its bundle if there is one: that takes a third of the time. */
export const loadServer = (): Promise<typeof import('./serve')> => import(bundled('serve.js') ?? './serve')

/** The bundle name for the current sources. */
export function nameOf(root: string): string {
  const files = INGREDIENTS.map((name) => join(root, name)).flatMap((path) =>
    statSync(path).isDirectory()
      ? readdirSync(path, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ parentPath, name }) => join(parentPath, name))
      : [path],
  )
  const states = files.map((file) => {
    const { size, mtimeMs } = statSync(file)
    return `${file} ${size} ${mtimeMs}`
  })
  return Bun.hash([Bun.revision, ...states.sort()].join('\n')).toString(36)
}
