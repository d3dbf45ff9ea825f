import { readFileSync } from 'node:fs'
import type { Browser } from 'puppeteer-core'
import type { OwnerScope } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import { errorFields, type Log } from '../kernel/log'
import { startChromium } from './chromium'
import type { OtherModules } from './deps'
import { openEgressProxy } from './egress-proxy'
import { browserErrors } from './errors'
import { controlOf, type LiveBrowser, openLive } from './live'
import type { BrowserSessionId, BrowserTool, EndReason, LiveView } from './schema'
import { createRefs, type Refs } from './tree'

const KB_OF_MB = 1_024

/** A session whose browser runs in this process. */
export type OpenSession = {
  id: BrowserSessionId
  owner: OwnerScope
  /** The user who owns the session. */
  user: UserId
  recorded: boolean
  live: LiveBrowser
  refs: Refs
  /** Time of the last action or viewer input, in epoch ms. */
  lastActive: number
  /** Version of the live view for viewers. Grows with each new target. */
  version: number
  /** Called when the front page, its address or its title changes. */
  listeners: Set<() => void>
  /** Called once, when the session ends. */
  enders: Set<(reason: EndReason) => void>
  /** Chain of actions, because they run one after the other. */
  turn: Promise<unknown>
  /** The viewer in control. Null while the agent is. */
  holder: string | null
  /** What a person is asked to do. Null if nothing is asked. */
  wanted: string | null
  /** The running tool. Null between two tools. */
  step: BrowserTool | null
  /** True once any tool has run. */
  worked: boolean
  /** True while its page is lost and not yet replaced. */
  away: boolean
  /** Number of recorded pictures. */
  frames: number
  /** Number of viewers. */
  viewers: number
  /** The last answer of `/live` and its time, by the monotonic clock. */
  shown: { at: number; view: LiveView } | null
}

type Losing = Pick<OtherModules, 'settings' | 'outbound' | 'log'> & {
  /** Called with the lost sessions when the browser ended. */
  onLost(ids: BrowserSessionId[]): void
  /** Called when a lost page has been replaced. */
  onReplaced(id: BrowserSessionId): Promise<unknown>
}

type Opening = {
  id: BrowserSessionId
  owner: OwnerScope
  user: UserId
  recorded: boolean
  through: boolean
  now: number
}

export type Host = ReturnType<typeof createHost>

/** The browser of this process and its sessions. It starts with the first session, and again after it died. */
export function createHost({ settings, outbound, log, onLost, onReplaced }: Losing) {
  const open = new Map<BrowserSessionId, OpenSession>()
  let browser: Promise<Browser> | null = null
  let megabytes: number | null = null
  let closed = false

  return {
    open,
    /** Number of sessions that are starting. */
    starting: 0,
    start,
    openSession,
    find: (id: BrowserSessionId): OpenSession | undefined => open.get(id),
    /** Closes the browser of a session and notifies its viewers. Does nothing for a session of another process. */
    async end(id: BrowserSessionId, reason: EndReason): Promise<void> {
      const session = open.get(id)
      if (!session) return
      open.delete(id)
      for (const tell of session.enders) tell(reason)
      await session.live.close()
    },
    /** Ends pages that take too much memory. Returns how many. */
    async trim(): Promise<number> {
      megabytes = null
      if (!open.size || !browser) return 0
      const found = await endGreedyPages(await browser, settings.browserPageMemoryMb, log)
      megabytes = found.megabytes
      return found.ended
    },
    /** Memory of all pages here at the last check, in MB. Null if unknown. */
    megabytes: () => megabytes,
    bytesOf: (id: BrowserSessionId): number => open.get(id)?.live.proxy.bytes() ?? 0,
    /** Process id of the Chromium that this process started. Null when there is none. */
    pid: async (): Promise<number | null> => (await browser?.catch(() => null))?.process()?.pid ?? null,
    async close(): Promise<void> {
      closed = true
      const running = await browser?.catch(() => null)
      browser = null
      if (settings.browserWsEndpoint) await running?.disconnect()
      else await running?.close().catch(() => undefined)
    },
  }

  /** The running browser. Starts it if necessary. Throws 503. */
  function start(): Promise<Browser> {
    browser ??= startChromium(settings).then(
      (started) => {
        started.on('disconnected', lose)
        return started
      },
      (error: unknown) => {
        browser = null
        log.error(errorFields(error), 'the browser did not start')
        throw browserErrors.browserFailed.with({ retryAfterS: 5, cause: error })
      },
    )
    return browser
  }

  function lose(): void {
    browser = null
    const ids = [...open.keys()]
    for (const [id, session] of open) {
      open.delete(id)
      for (const tell of session.enders) tell('browser')
      void session.live.release()
    }
    if (closed || !ids.length) return
    log.warn({ sessions: ids.length }, 'the browser ended, and its sessions with it')
    onLost(ids)
  }

  function setAway(id: BrowserSessionId, away: boolean): void {
    const session = open.get(id)
    if (!session) return
    session.away = away
    for (const tell of session.listeners) tell()
  }

  /** Opens a separate context for a session. Throws 503. */
  async function openSession({ id, owner, user, recorded, through, now }: Opening): Promise<OpenSession> {
    const running = await start()
    const listen = settings.browserProxyHost
    const proxy = await openEgressProxy({ outbound, listen, upstream: settings.browserUpstreamProxy }, through)
    const listeners = new Set<() => void>()
    const onChange = () => {
      for (const tell of listeners) tell()
    }
    try {
      const live = await openLive({
        browser: running,
        proxy,
        isElsewhere: Boolean(settings.browserWsEndpoint),
        onChange,
        onLost: () => setAway(id, true),
        // Viewers get the new version before the message that the page is back.
        onReplaced: () =>
          void onReplaced(id)
            .catch((error: unknown) => log.warn(errorFields(error), 'a live view was not renewed'))
            .finally(() => setAway(id, false)),
      })
      const session: OpenSession = {
        id,
        owner,
        user,
        recorded,
        live,
        refs: createRefs(),
        lastActive: now,
        version: 1,
        listeners,
        enders: new Set(),
        turn: Promise.resolve(),
        holder: null,
        wanted: null,
        step: null,
        worked: false,
        away: false,
        frames: 0,
        viewers: 0,
        shown: null,
      }
      open.set(id, session)
      return session
    } catch (error) {
      proxy.close()
      log.error(errorFields(error), 'the browser opened no session')
      throw browserErrors.browserFailed.with({ retryAfterS: 5, cause: error })
    }
  }
}

/** Runs an action of a session after the earlier ones. */
export function inTurn<T>(session: OpenSession, action: () => Promise<T>): Promise<T> {
  const next = session.turn.then(action, action)
  session.turn = next.catch(() => undefined)
  return next
}

/**
 * Ends each page process above the memory limit (docs/api.md 16, docs/attacks.md N8). Chromium never shares such a
 * process between sessions, but does not tell which process belongs to which. The session opens the page again, once.
 * Returns the number of ended processes and the total memory in MB, which is null for a remote browser.
 */
async function endGreedyPages(browser: Browser, maxMb: number, log: Log) {
  if (!browser.process()?.pid || process.platform !== 'linux') return { ended: 0, megabytes: null }
  const { processInfo } = await (await controlOf(browser)).send('SystemInfo.getProcessInfo')
  let [ended, megabytes] = [0, 0]
  for (const { type, id } of processInfo) {
    const mb = type === 'renderer' ? ownMegabytes(id) : 0
    megabytes += mb
    if (mb <= maxMb) continue
    log.warn({ mb: Math.round(mb), most_mb: maxMb }, 'a page used too much memory and was closed')
    try {
      process.kill(id, 'SIGKILL')
      ended += 1
    } catch {
      // The process ended by itself meanwhile.
    }
  }
  return { ended, megabytes: Math.round(megabytes) }
}

/** Memory of a process without mapped files, in MB. 0 if the process is gone. */
function ownMegabytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    return (kb('RssAnon') + kb('RssShmem')) / KB_OF_MB
  } catch {
    return 0
  }
}
