import type { Browser, CDPSession, Page, Target } from 'puppeteer-core'
import { beginningOf } from '../kernel/text'
import { VIEWPORT } from './chromium'
import { followDownloads } from './downloads'
import type { EgressProxy } from './egress-proxy'

/** Maximum number of tabs (docs/api.md 16). More are closed at once. */
const MAX_TABS = 10

type Options = {
  browser: Browser
  proxy: EgressProxy
  /** True if the browser runs on another machine. */
  isElsewhere: boolean
  /** Called when the front page, its address or its title may have changed. */
  onChange(): void
  /** Called when a page was lost, and when another one has replaced it. */
  onLost(): void
  onReplaced(): void
}

export type PageFacts = { id: string; url: string; title: string; favicon_url: string | null }
export type LiveBrowser = Awaited<ReturnType<typeof openLive>>

/** A dialog that a page opened, and how it was answered. */
export type AnsweredDialog = { type: string; message: string; accepted: boolean }

/** Removes APIs that would leak names around the proxy. A property that is already fixed throws. The loop continues. */
const NO_PEERS = `for (const name of ['RTCPeerConnection','webkitRTCPeerConnection','RTCDataChannel','RTCIceTransport','WebTransport'])
  try { Object.defineProperty(globalThis, name, { value: undefined, configurable: false, writable: false }) } catch {}`

/** Schemes that a tab may show. Any other scheme closes the tab. */
const SHOWN = /^(https?:|about:(blank|srcdoc)|blob:|data:|chrome-error:)/

/**
 * The browser of one session: a context with its own cookies, storage, cache and proxy. Tracks its tabs. The newest tab
 * is in front, as a person would see it.
 */
export async function openLive({ browser, proxy, isElsewhere, onChange, onLost, onReplaced }: Options) {
  const context = await browser.createBrowserContext({
    proxyServer: proxy.url,
    proxyBypassList: ['<-loopback>'],
  })
  const tabs = new Map<Page, string>()
  const downloads = await followDownloads({
    control: await controlOf(browser),
    contextId: context.id,
    isElsewhere,
    isOwn: (id) =>
      [...tabs.keys()].some((page) => page.frames().some((frame) => (frame as { _id?: string })._id === id)),
  })
  const dialogs: AnsweredDialog[] = []
  let tabNumber = 0
  let front: Page | null = null
  let acceptNext = true
  const crashed = new Set<string>()
  let opening: Promise<unknown> | null = null

  context.on('targetcreated', (target: Target) => void adopt(target).catch(() => undefined))
  context.on('targetdestroyed', () => settleFront())
  // Denies all permissions to every origin: camera, microphone, location, notifications, clipboard.
  const control = await controlOf(browser)
  await control.send('Browser.grantPermissions', {
    permissions: [],
    ...(context.id ? { browserContextId: context.id } : {}),
  })
  const first = await context.newPage()
  await adopt(first.target())

  return {
    context,
    proxy,
    downloads,
    /** The front tab. */
    page: (): Page => {
      settleFront()
      if (!front) throw new Error('the session has no page')
      return front
    },
    /** Resolves when there is a front tab. If the last tab closed itself, its replacement may still be opening. */
    async ready(): Promise<void> {
      settleFront()
      if (!front) await opening
    },
    tabs: (): readonly Page[] => [...tabs.keys()],
    idOf: (page: Page): string => tabs.get(page) ?? 'tab-0',
    show,
    facts,
    /** The dialogs since the last call. */
    takeDialogs: (): AnsweredDialog[] => dialogs.splice(0),
    /** Sets whether the next `confirm` and `prompt` are accepted. */
    answerDialogs(accepted: boolean): void {
      acceptNext = accepted
    },
    async close(): Promise<void> {
      // A page that crashed may never answer.
      await within(context.close(), undefined, 5_000)
      await release()
    },
    release,
  }

  /** Releases the resources of this process when the browser is gone. */
  async function release(): Promise<void> {
    proxy.close()
    await downloads.close()
  }

  async function adopt(target: Target): Promise<void> {
    if (target.type() !== 'page') return
    const page = await target.page()
    if (!page || tabs.has(page)) return
    if (tabs.size >= MAX_TABS) return void (await page.close().catch(() => undefined))
    tabs.set(page, `tab-${++tabNumber}`)
    page.on('dialog', (dialog) => {
      const accepted = dialog.type() === 'alert' || dialog.type() === 'beforeunload' || acceptNext
      dialogs.push({ type: dialog.type(), message: dialog.message().slice(0, 500), accepted })
      if (dialogs.length > 20) dialogs.shift()
      void (accepted ? dialog.accept(dialog.defaultValue() || undefined) : dialog.dismiss()).catch(() => undefined)
    })
    page.on('framenavigated', (frame) => {
      if (frame !== page.mainFrame()) return
      if (!SHOWN.test(frame.url())) void page.goto('about:blank').catch(() => undefined)
      onChange()
    })
    page.on('load', onChange)
    page.on('error', () => void replace(page).catch(() => undefined))
    page.on('close', settleFront)
    await show(page)
    await Promise.all([page.setViewport(VIEWPORT), page.evaluateOnNewDocument(NO_PEERS)])
    onChange()
  }

  /** A closed tab is replaced by the newest remaining tab. After the last one, an empty tab opens. */
  function settleFront(): void {
    for (const page of tabs.keys()) if (page.isClosed()) tabs.delete(page)
    if (front && !front.isClosed()) return
    const before = front
    front = [...tabs.keys()].at(-1) ?? null
    if (front) void front.bringToFront().catch(() => undefined)
    else if (before && !context.closed)
      opening = context
        .newPage()
        .then((page) => adopt(page.target()))
        .catch(() => undefined)
    // A listener reads the front page, which calls this function again.
    if (front !== before) onChange()
  }

  /** Reopens a crashed page in another tab. If it crashes again, opens an empty tab. */
  async function replace(page: Page): Promise<void> {
    if (!tabs.has(page) || context.closed) return
    onLost()
    const url = page.url()
    const again = /^https?:/.test(url) && !crashed.has(url)
    crashed.add(url)
    const fresh = await context.newPage()
    await adopt(fresh.target())
    tabs.delete(page)
    // A crashed page may never confirm that it is closed.
    void page.close().catch(() => undefined)
    if (again) await within(fresh.goto(url, { waitUntil: 'domcontentloaded', timeout: 10_000 }), null, 10_000)
    onReplaced()
  }

  async function show(page: Page): Promise<void> {
    front = page
    await page.bringToFront().catch(() => undefined)
    onChange()
  }

  async function facts(page: Page): Promise<PageFacts> {
    const id = tabs.get(page) ?? 'tab-0'
    const url = page.url()
    const [title, favicon] = await Promise.all([
      within(page.title(), ''),
      within(
        page.evaluate(() => document.querySelector<HTMLLinkElement>('link[rel~="icon"]')?.href ?? null),
        null,
      ),
    ])
    const usual = /^https?:/.test(url) ? (URL.parse('/favicon.ico', url)?.href ?? null) : null
    const favicon_url = favicon && /^https?:/.test(favicon) && favicon.length <= 2_048 ? favicon : usual
    return { id, url: url.slice(0, 2_048), title: beginningOf(title, 300), favicon_url }
  }
}

/** The answer of a page, or `otherwise` if the page does not answer within `ms`. */
export async function within<T>(answer: Promise<T>, otherwise: T, ms = 1_000): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<T>()
  const timer = setTimeout(() => resolve(otherwise), ms)
  try {
    return await Promise.race([answer.catch(() => otherwise), late])
  } finally {
    clearTimeout(timer)
  }
}

/** One per browser, kept while it runs, because detaching one of several makes puppeteer forget the browser itself. */
const controls = new WeakMap<Browser, Promise<CDPSession>>()

/** The one debugger session of a browser itself. */
export function controlOf(browser: Browser): Promise<CDPSession> {
  const known = controls.get(browser) ?? browser.target().createCDPSession()
  controls.set(browser, known)
  return known
}
