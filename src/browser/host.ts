import { readFileSync } from 'node:fs'
import type { Browser } from 'puppeteer-core'
import type { OwnerScope } from '../kernel/caller'
import type { UserId } from '../kernel/ids'
import { errorFields, type Log } from '../kernel/log'
import { startChromium } from './chromium'
import type { Given } from './deps'
import { openEgressProxy } from './egress-proxy'
import { browserFailed } from './errors'
import { controlOf, type LiveBrowser, openLive } from './live'
import type { BrowserSessionId, BrowserTool, EndReason, LiveView } from './schema'
import { createRefs, type Refs } from './tree'

const KB_OF_MB = 1_024

/** A session whose browser this process has. */
export type OpenSession = {
  id: BrowserSessionId
  owner: OwnerScope
  /** The person that it belongs to. */
  user: UserId
  recorded: boolean
  live: LiveBrowser
  refs: Refs
  /** Epoch ms of the last action, or of the last hand on the page. */
  lastActive: number
  /** The version that viewers have; grows with each fresh target. */
  version: number
  /** Told when the page in front, its address or its title changes. */
  listeners: Set<() => void>
  /** Told once, when the session ends. */
  enders: Set<(reason: EndReason) => void>
  /** Actions run one after the other. */
  turn: Promise<unknown>
  /** The viewer that has the wheel; null while the agent has it. */
  holder: string | null
  /** What a person is asked to do; null while nobody is. */
  wanted: string | null
  /** The tool that runs; null between two. */
  step: BrowserTool | null
  /** Whether a tool has run at all. */
  worked: boolean
  /** Whether its page was lost and has no other one yet. */
  away: boolean
  /** Pictures that were kept of it. */
  frames: number
  /** Number of viewers. */
  viewers: number
  /** What `/live` last answered, and when, by the monotonic clock. */
  shown: { at: number; view: LiveView } | null
}

type Losing = Pick<Given, 'settings' | 'outbound' | 'log'> & {
  /** Its sessions are gone because the browser ended. */
  onLost(ids: BrowserSessionId[]): void
  /** A page of it was lost and has another one now. */
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

/** The browser of this process and the sessions in it. It starts with the first session, and again when it died. */
export function createHost({ settings, outbound, log, onLost, onReplaced }: Losing) {
  const open = new Map<BrowserSessionId, OpenSession>()
  let browser: Promise<Browser> | null = null
  let megabytes: number | null = null
  let closed = false

  return {
    open,
    /** How many sessions are being started. */
    starting: 0,
    start,
    openSession,
    find: (id: BrowserSessionId): OpenSession | undefined => open.get(id),
    /** Closes the browser of a session and tells its viewers; does nothing for one that is not here. */
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
    /** What the pages of all sessions here took when that was last looked at, in MB; null where it is not known. */
    megabytes: () => megabytes,
    bytesOf: (id: BrowserSessionId): number => open.get(id)?.live.proxy.bytes() ?? 0,
    /** Process id of the Chromium that was started here; null when there is none. */
    pid: async (): Promise<number | null> => (await browser?.catch(() => null))?.process()?.pid ?? null,
    async close(): Promise<void> {
      closed = true
      const running = await browser?.catch(() => null)
      browser = null
      if (settings.browserWsEndpoint) await running?.disconnect()
      else await running?.close().catch(() => undefined)
    },
  }

  /** The running browser; starts it when there is none. Throws 503. */
  function start(): Promise<Browser> {
    browser ??= startChromium(settings).then(
      (started) => {
        started.on('disconnected', lose)
        return started
      },
      (error: unknown) => {
        browser = null
        log.error(errorFields(error), 'the browser did not start')
        throw browserFailed.with({ retryAfterS: 5, cause: error })
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

  /** A context of its own for a session. Throws 503. */
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
        // Viewers have the new version before they are told that the page is back.
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
      throw browserFailed.with({ retryAfterS: 5, cause: error })
    }
  }
}

/** Runs an action of a session after those before it. */
export function inTurn<T>(session: OpenSession, action: () => Promise<T>): Promise<T> {
  const next = session.turn.then(action, action)
  session.turn = next.catch(() => undefined)
  return next
}

/**
 * Ends each process of pages that takes more memory than it may (docs/api.md 16, docs/attacks.md N8). Chromium never
 * shares one between sessions; the session opens the page again, once. Which process is whose Chromium does not tell.
 * Returns how many it ended, and what all took in MB: null for a browser that runs elsewhere.
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
      // It ended by itself meanwhile.
    }
  }
  return { ended, megabytes: Math.round(megabytes) }
}

/** What a process has in memory besides files, in MB; 0 for one that is gone. */
function ownMegabytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    return (kb('RssAnon') + kb('RssShmem')) / KB_OF_MB
  } catch {
    return 0
  }
}
