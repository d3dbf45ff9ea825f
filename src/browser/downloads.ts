import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CDPSession, Protocol } from 'puppeteer-core'

/** A file that a page downloaded. */
export type Download = {
  id: string
  /** File name from its server or page. */
  filename: string
  url: string
  bytes: number
  state: 'coming' | 'came' | 'stopped'
  /** Why the download was stopped. Null unless it was. */
  problem: string | null
  /** Path of its bytes until the session ends. */
  path: string
}

const MAX_MB = 100
/** Limits per session: downloads that wait to be taken, and their total bytes. */
const MAX_WAITING = 10
const MAX_STRANGE = 100
const MAX_BYTES = MAX_MB * 1024 ** 2

type Deps = {
  /** The debugger session of the browser, and the context whose downloads these are. */
  control: CDPSession
  contextId: string | undefined
  /** True if the browser runs on another machine, so that its files cannot be read here. */
  isElsewhere: boolean
  /** True if a frame belongs to this session. */
  isOwn(frameId: string): boolean
}

/**
 * Follows the downloads of a session. They go to a separate folder, within limits, until the session's user takes them.
 * Remaining files are removed with the session.
 */
export async function followDownloads({ control, contextId, isElsewhere, isOwn }: Deps) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-downloads-'))
  const found = new Map<string, Download>()
  const waiting = new Set<() => void>()
  const tell = () => {
    for (const wake of waiting) wake()
  }

  /** Downloads of unknown frames, for example of a tab that closed because it was only a download. */
  const strange = new Map<string, Protocol.Browser.DownloadWillBeginEvent>()

  const onBegin = (event: Protocol.Browser.DownloadWillBeginEvent) => {
    if (isOwn(event.frameId)) begin(event)
    else if (strange.size < MAX_STRANGE) strange.set(event.guid, event)
  }
  const begin = ({ guid, url, suggestedFilename }: Protocol.Browser.DownloadWillBeginEvent) => {
    const filename = suggestedFilename.slice(0, 200) || 'download'
    const made = { id: guid, filename, url: url.slice(0, 2_048), bytes: 0, path: join(folder, guid) }
    found.set(guid, { ...made, state: 'coming', problem: null })
    if (isElsewhere) stop(guid, 'the browser runs on another machine, so its files cannot be read')
    else if (found.size > MAX_WAITING) stop(guid, `more than ${MAX_WAITING} downloads at once`)
    tell()
  }
  const onProgress = (now: Protocol.Browser.DownloadProgressEvent) => {
    const unknown = strange.get(now.guid)
    if (unknown && now.filePath?.startsWith(folder)) begin(unknown)
    // Only the session whose context owns the download can cancel it. The calls of other sessions fail.
    else if (unknown && now.receivedBytes > MAX_BYTES) cancel(now.guid)
    if (unknown && (found.has(now.guid) || now.state !== 'inProgress')) strange.delete(now.guid)
    const one = found.get(now.guid)
    if (one?.state !== 'coming') return
    one.bytes = now.receivedBytes
    const all = [...found.values()].reduce((sum, { bytes, state }) => sum + (state === 'stopped' ? 0 : bytes), 0)
    if (now.state === 'completed') one.state = 'came'
    else if (now.state === 'canceled') stop(now.guid, 'the connection ended, or the page cancelled it')
    else if (Math.max(now.totalBytes, one.bytes) > MAX_BYTES || all > MAX_BYTES) {
      stop(now.guid, `it is larger than the ${MAX_MB} MB that a session can take`)
    }
    tell()
  }
  control.on('Browser.downloadWillBegin', onBegin)
  control.on('Browser.downloadProgress', onProgress)
  await control.send('Browser.setDownloadBehavior', {
    behavior: isElsewhere ? 'deny' : 'allowAndName',
    ...(contextId ? { browserContextId: contextId } : {}),
    downloadPath: folder,
    eventsEnabled: true,
  })
  return { began, take, drop, close }

  function stop(guid: string, problem: string): void {
    const one = found.get(guid)!
    Object.assign(one, { state: 'stopped', problem })
    cancel(guid)
    void rm(one.path, { force: true })
  }

  function cancel(guid: string): void {
    const about = { guid, ...(contextId ? { browserContextId: contextId } : {}) }
    void control.send('Browser.cancelDownload', about).catch(() => undefined)
  }

  /** Waits until a download exists. Returns false after `ms` without one. */
  async function began(ms: number): Promise<boolean> {
    await until(() => found.size > 0, AbortSignal.timeout(ms))
    return found.size > 0
  }

  /** Takes the downloads that ended since the last call. Waits until none is running, or until `signal` aborts. */
  async function take(signal: AbortSignal): Promise<Download[]> {
    const isQuiet = () => [...found.values()].every(({ state }) => state !== 'coming')
    await until(isQuiet, signal)
    const taken = [...found.values()]
    for (const { id, state } of taken) if (state !== 'coming') found.delete(id)
    return taken
  }

  async function until(isSo: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isSo() && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise.finally(() => waiting.delete(resolve))
    }
  }

  /** Removes the bytes of a taken download. */
  function drop({ path }: Download): Promise<void> {
    return rm(path, { force: true })
  }

  async function close(): Promise<void> {
    control.off('Browser.downloadWillBegin', onBegin)
    control.off('Browser.downloadProgress', onProgress)
    await rm(folder, { recursive: true, force: true })
  }
}
