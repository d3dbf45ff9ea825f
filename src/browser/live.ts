import type { Browser, CDPSession, Page, Target } from 'puppeteer-core'
import { beginningOf } from '../kernel/text'
import { VIEWPORT } from './chromium'
import { followDownloads } from './downloads'
import type { EgressProxy } from './egress-proxy'

/** Contract 16: a page may open tabs, up to so many; more are closed at once. */
const MAX_TABS = 10

type Options = {
  browser: Browser
  proxy: EgressProxy
  /** Whether the browser runs on another machine. */
  isElsewhere: boolean
  /** Called when the page in front, its address or its title may have changed. */
  onChange(): void
  /** Called when a page was lost, and when another one has its place. */
  onLost(): void
  onReplaced(): void
}

export type PageFacts = { id: string; url: string; title: string; favicon_url: string | null }
export type LiveBrowser = Awaited<ReturnType<typeof openLive>>

/** A dialog that a page opened, and how it was answered. */
export type AnsweredDialog = { type: string; message: string; accepted: boolean }

/** What a page may not have: names leave by none of them. One that is already fixed throws, and the others still go. */
const NO_PEERS = `for (const name of ['RTCPeerConnection','webkitRTCPeerConnection','RTCDataChannel','RTCIceTransport','WebTransport'])
  try { Object.defineProperty(globalThis, name, { value: undefined, configurable: false, writable: false }) } catch {}`

/** Schemes that a tab may show; anything else closes it. */
const SHOWN = /^(https?:|about:(blank|srcdoc)|blob:|data:|chrome-error:)/

/**
 * The browser of one session: a context with its own cookies, storage, cache and way out, whose tabs are followed. The
 * newest tab is in front, as a person would see it.
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
  // No camera, microphone, place, notifications, clipboard: all permissions of every origin are refused.
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
    /** The tab in front. */
    page: (): Page => {
      settleFront()
      if (!front) throw new Error('the session has no page')
      return front
    },
    /** Resolves when there is a tab in front: one that closed itself as the last may not have its follower yet. */
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
    /** Whether the next `confirm` and `prompt` are accepted. */
    answerDialogs(accepted: boolean): void {
      acceptNext = accepted
    },
    async close(): Promise<void> {
      // A page that died may never answer.
      await within(context.close(), undefined, 5_000)
      await release()
    },
    release,
  }

  /** Gives back what is of this process, where the browser is gone. */
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

  /** A tab that closed gives its place to the newest of the others; the last one leaves an empty one. */
  function settleFront(): void {
    for (const page of tabs.keys()) if (page.isClosed()) tabs.delete(page)
    if (front && !front.isClosed()) return
    const before = front
    front = [...tabs.keys()].at(-1) ?? null
    if (front) void front.bringToFront().catch(() => undefined)
    else if (before && !context.closed) opening = openEmpty().catch(() => undefined)
    // A listener asks for the page in front, and so comes back here.
    if (front !== before) onChange()
  }

  async function openEmpty(): Promise<void> {
    await adopt((await context.newPage()).target())
  }

  /** A page whose process died is opened again in another tab; one that dies again leaves an empty one. */
  async function replace(page: Page): Promise<void> {
    if (!tabs.has(page) || context.closed) return
    onLost()
    const url = page.url()
    const again = /^https?:/.test(url) && !crashed.has(url)
    crashed.add(url)
    const fresh = await context.newPage()
    await adopt(fresh.target())
    tabs.delete(page)
    // What has crashed may never say that it is closed.
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

/** What a page that hangs does not answer in a second is taken to be `otherwise`. */
export async function within<T>(answer: Promise<T>, otherwise: T, ms = 1_000): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<T>()
  const timer = setTimeout(() => resolve(otherwise), ms)
  try {
    return await Promise.race([answer.catch(() => otherwise), late])
  } finally {
    clearTimeout(timer)
  }
}

/** One per browser, kept while it runs: detaching one of several makes puppeteer forget the browser itself. */
const controls = new WeakMap<Browser, Promise<CDPSession>>()

/** The one debugger session of a browser itself. */
export function controlOf(browser: Browser): Promise<CDPSession> {
  const known = controls.get(browser) ?? browser.target().createCDPSession()
  controls.set(browser, known)
  return known
}
