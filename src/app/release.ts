import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NO_RELEASE, type Release } from './bundle'

/** Facts of the release. Never throws, because a bundle also works without them. */
export async function releaseOf(root: string): Promise<Release> {
  const [commit, openapi] = await Promise.all([commitOf(root), documentOf(root)])
  return { commit: commit ?? NO_RELEASE.commit, openapi: openapi ?? NO_RELEASE.openapi }
}

async function commitOf(root: string): Promise<string | null> {
  // If the folder lies inside another repository, the first line is its path there and the pattern does not match.
  const text = await outputOf(['git', '-C', root, 'rev-parse', '--show-prefix', 'HEAD'])
  return (text && /^\n([0-9a-f]{40,64})\n$/.exec(text)?.[1]) || null
}

async function documentOf(root: string): Promise<string | null> {
  const scratch = mkdtempSync(join(tmpdir(), 'svc-document-'))
  try {
    // Passes nothing of this environment, so that the child cannot open a production database.
    const place = { cwd: scratch, env: { HOME: scratch } }
    const text = await outputOf([process.execPath, join(root, 'src/app/own-document.ts')], place)
    return text && hashOf(JSON.parse(text))
  } catch {
    return null
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Hash of an OpenAPI document, independent of where it is served. */
export const hashOf = ({ servers: _, ...document }: Record<string, unknown>): string =>
  new Bun.CryptoHasher('sha256').update(JSON.stringify(document)).digest('hex')

/** Standard output of a command. Null if the command fails or does not exist. */
async function outputOf(command: string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  try {
    const child = Bun.spawn(command, { ...options, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
    const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
    return code === 0 ? text : null
  } catch {
    return null
  }
}
