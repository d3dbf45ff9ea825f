import type { CDPSession, Page } from 'puppeteer-core'
import type { OpenSession } from './host'
import { within } from './live'
import { readTree } from './tree'

/** One viewer, and how to send it parts of the view. */
export type Viewer = {
  id: string
  mayControl: boolean
  sendText(message: object): void
  sendFrame(frame: Uint8Array): void
}

type Watched = Viewer & { waiting: boolean; shown: number }

const SIZE = { maxWidth: 1280, maxHeight: 800, quality: 60 }
const MAX_VIEWERS = 20
const TEXT_MS = 2_000
const RETRY_MS = 250

/**
 * The live view of one session: the screencast of the front tab, sent to each viewer at its own pace. A viewer has at
 * most one frame in flight. A slow viewer next gets the newest frame, never a queue (docs/api.md 16.3).
 */
export function createShow(session: OpenSession, onEmpty: () => void) {
  const viewers = new Map<string, Watched>()
  let cast: { page: Page; cdp: CDPSession } | null = null
  let moving: Promise<void> = Promise.resolve()
  let latest: Uint8Array | null = null
  let seq = 0
  let telling: Timer | null = null
  let retry: Timer | null = null

  const changed = () => {
    follow()
    void tell()
  }
  const over = (reason: string) => {
    for (const viewer of viewers.values()) viewer.sendText({ type: 'ended', reason })
  }
  session.listeners.add(changed)
  session.enders.add(over)

  return { join, leave, acked, tell, textOf, count: () => viewers.size }

  /** Returns false when the maximum number of viewers is reached. */
  function join(viewer: Viewer): boolean {
    if (viewers.size >= MAX_VIEWERS) return false
    viewers.set(viewer.id, { ...viewer, waiting: false, shown: 0 })
    session.viewers = viewers.size
    if (latest) send(viewers.get(viewer.id)!)
    changed()
    return true
  }

  function leave(id: string): void {
    if (!viewers.delete(id)) return
    session.viewers = viewers.size
    if (viewers.size) return
    session.listeners.delete(changed)
    session.enders.delete(over)
    void cast?.cdp.detach().catch(() => undefined)
    cast = null
    onEmpty()
  }

  /** A viewer has drawn its frame. Sends the newest frame if there is a newer one. */
  function acked(id: string): void {
    const viewer = viewers.get(id)
    if (!viewer) return
    viewer.waiting = false
    if (viewer.shown < seq) send(viewer)
  }

  function send(viewer: Watched): void {
    if (viewer.waiting || !latest) return
    viewer.waiting = true
    viewer.shown = seq
    viewer.sendFrame(latest)
  }

  /** Moves the screencast to the front tab. Retries, because a tab that is about to be lost may have no screencast. */
  function follow(): void {
    moving = moving.then(move).catch(() => {
      cast = null
      if (retry) return
      retry = setTimeout(() => {
        retry = null
        follow()
      }, RETRY_MS)
    })
  }

  async function move(): Promise<void> {
    if (!viewers.size || session.live.context.closed) return
    const page = session.live.page()
    if (cast?.page === page) return
    // A page that crashed may never answer.
    void cast?.cdp.detach().catch(() => undefined)
    const cdp = await page.createCDPSession()
    cast = { page, cdp }
    cdp.on('Page.screencastFrame', ({ data, sessionId, metadata }) => {
      void cdp.send('Page.screencastFrameAck', { sessionId }).catch(() => undefined)
      if (cast?.cdp !== cdp) return
      seq += 1
      const { deviceWidth: w, deviceHeight: h, timestamp = 0 } = metadata
      const at = Math.round(timestamp * 1_000)
      // Four bytes of length, a header in JSON, and the picture.
      const header = Buffer.from(JSON.stringify({ seq, w, h, version: session.version, at }))
      const length = Buffer.alloc(4)
      length.writeUInt32BE(header.length)
      latest = Buffer.concat([length, header, Buffer.from(data, 'base64')])
      for (const viewer of viewers.values()) send(viewer)
      tellSoon()
    })
    await cdp.send('Page.startScreencast', { format: 'jpeg', ...SIZE, everyNthFrame: 1 })
  }

  /** A title can change without a navigation. So a redraw sends the facts again, at most twice a second. */
  function tellSoon(): void {
    if (telling) return
    telling = setTimeout(() => {
      telling = null
      void tell()
    }, 500)
  }

  /** Sends the state of the session: address, title, tabs and version. */
  async function tell(): Promise<void> {
    if (!viewers.size || session.live.context.closed) return
    await within(session.live.ready(), undefined)
    if (!session.live.tabs().length) return
    const front = session.live.page()
    const tabs = await Promise.all(session.live.tabs().map(session.live.facts))
    const now = tabs.find(({ id }) => id === session.live.idOf(front))
    const state = {
      type: 'state',
      ...now,
      tabs: tabs.map(({ id, title, url }) => ({ id, title, url })),
      version: session.version,
      step: session.step,
      idle: session.worked && session.step === null,
      away: session.away,
    }
    for (const viewer of viewers.values()) {
      viewer.sendText({ ...state, may_control: viewer.mayControl, holder: session.holder, wanted: session.wanted })
    }
  }

  /** The page as text for people who cannot see it, with the names that screen readers would say. */
  async function textOf(): Promise<object> {
    const elements = await within(readTree(session.live.page(), session.refs), [], TEXT_MS)
    const nodes = elements
      .filter(({ role, name }) => name && MESSAGE.has(role))
      .slice(0, 300)
      .map(({ ref, role, name, value, level, checked }) => ({ ref, role, name, value, level, checked }))
    return { type: 'text', nodes }
  }
}

export type Show = ReturnType<typeof createShow>

const MESSAGE = new Set([
  'heading',
  'link',
  'button',
  'textbox',
  'searchbox',
  'combobox',
  'checkbox',
  'radio',
  'spinbutton',
  'StaticText',
  'image',
  'tab',
  'menuitem',
  'option',
  'switch',
  'slider',
])
