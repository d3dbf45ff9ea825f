import type { Draft, Files } from '../files'
import { AppError } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import type { Tx } from '../kernel/store'
import type { Download } from './downloads'
import type { OpenSession } from './host'

/** A download that was taken; its bytes are in the draft, unless `problem` says why they are not kept. */
export type Taken = { filename: string; url: string; size: number; draft: Draft | null; problem: string | null }

type Deps = { files: Pick<Files, 'receive' | 'add' | 'discard'>; log: Log }

const WAIT_MS = 20_000
const STEALTH = 'a stealth run stores nothing'
const COMING = 'it is still downloading: a later browser_act, such as "wait", reports when it is complete'

/** Makes artifacts of what the pages of a session hand over (contract 16.4). */
export function createTaking({ files, log }: Deps) {
  return { take, keepDownloads }

  /** What came since the last call. One that is on its way is waited for, though not for long. */
  async function take({ live }: OpenSession, kept: boolean, signal: AbortSignal): Promise<Taken[]> {
    const found = await live.downloads.take(AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]))
    const taken: Taken[] = []
    for (const one of found) {
      const problem = one.state === 'coming' ? COMING : (one.problem ?? (kept ? null : STEALTH))
      taken.push(await receive(one, problem))
      if (one.state === 'came') await live.downloads.drop(one)
    }
    return taken
  }

  async function receive({ filename, url, bytes: size, path }: Download, problem: string | null): Promise<Taken> {
    const about = { filename, url, size }
    if (problem !== null) return { ...about, draft: null, problem }
    try {
      const file = Bun.file(path)
      // A text under a name that tells nothing is a text all the same; its bytes decide.
      const claimed = file.size ? typeOf(filename) : 'text/plain'
      return { ...about, draft: await files.receive(file.stream(), claimed), problem }
    } catch (error) {
      return { ...about, draft: null, problem: said(error) }
    }
  }

  /** Gives them to the owner of the session. One for which there is no room is named, and not kept. */
  async function keepDownloads(tx: Tx, { owner }: OpenSession, taken: readonly Taken[]) {
    const told = []
    for (const { filename, url, size, draft, problem } of taken) {
      const about = { filename, url, size_bytes: size }
      try {
        const made = { type: 'file' as const, filename, engine: 'svc-core', model: 'svc-1-browser' }
        told.push({ ...about, artifact: draft && (await files.add(tx, owner, draft, made)), problem })
      } catch (error) {
        if (!(error instanceof AppError) || error.kind !== 'conflict') throw error
        tx.afterCommit(() => void files.discard(draft!).catch(() => undefined))
        told.push({ ...about, artifact: null, problem: error.message })
      }
    }
    return told
  }

  function said(error: unknown): string {
    if (error instanceof AppError) return error.message
    log.warn(errorFields(error), 'a download was not stored')
    return 'it could not be stored'
  }
}

const typeOf = (filename: string): string => {
  const { type } = Bun.file(filename)
  return /^(text|application|image)\//.test(type) && type !== 'application/octet-stream' ? type : 'text/plain'
}
