import { createPlacing, NARROW } from './placing'

type Options = {
  id: string
  /** The address of this script. The frame is served from the same place. */
  base: URL
  /** The other `data-` attributes of the tag. */
  options: DOMStringMap
  emit(event: string, detail: unknown): void
}

export type Frame = ReturnType<typeof createFrame>

/** Maps messages of the frame to the names of the host's events. */
const EVENTS: Record<string, string> = { ready: 'ready', open: 'open', close: 'close', message: 'message' }
const PERSON: Record<string, string> = {
  requested: 'handoff_requested',
  human: 'operator_joined',
  ai: 'operator_left',
}
/** If the frame is silent this long, the likely reason is written to the console. */
const SILENT_MS = 5_000

/** The frame of one widget, and the messages to and from it. Accepts messages only from its own window and origin. */
export function createFrame({ id, base, options, emit }: Options) {
  const iframe = document.createElement('iframe')
  const { previewToken, container, open: openAtOnce, lang, colorScheme } = options
  const address = new URL(`embed/widget/${id}`, base)
  if (previewToken) address.searchParams.set('preview', previewToken)
  const parameters = new URLSearchParams({ origin: location.origin, page: location.href.slice(0, 2_000) })
  if (lang) parameters.set('lang', lang)
  if (colorScheme) parameters.set('scheme', colorScheme)
  if (container) parameters.set('inline', '1')
  if (matchMedia(NARROW).matches) parameters.set('narrow', '1')
  address.hash = parameters.toString()
  iframe.src = address.href
  iframe.title = 'Chat'
  iframe.allow = 'clipboard-write'
  const placing = createPlacing(iframe, options)
  // Not in the body: one with a transform or a filter would move along what is fixed in it.
  const host = (container && document.querySelector(container)) || document.documentElement
  host.append(iframe)

  let isReady = false
  let isDrawn = false
  let isOpen = false
  let cameFrom: Element | null = null
  const waiting: object[] = []
  const silence = setTimeout(() => {
    // biome-ignore lint/suspicious/noConsole: the one message that the person who pasted the tag needs
    console.info(
      `svc: the chat frame did not answer. Most often this page's origin, ${location.origin}, is not allowed for widget ${id.slice(0, 8)}: svc-admin widgets update ${id.slice(0, 8)} --origin ${location.origin}`,
    )
  }, SILENT_MS)

  function post(message: object): void {
    if (isReady) iframe.contentWindow?.postMessage({ target: 'svc-widget', ...message }, base.origin)
    else waiting.push(message)
  }

  const layout = () => post({ type: 'layout', modal: isOpen && placing.isNarrow(), inline: Boolean(container) })

  function hear({ source, origin, data }: MessageEvent): void {
    if (source !== iframe.contentWindow || origin !== base.origin) return
    if (typeof data !== 'object' || data === null || data.source !== 'svc-widget') return
    const { type } = data as { type: unknown }
    // The first view is drawn before there is a chat behind it.
    if (!isDrawn && (type === 'shown' || type === 'ready')) {
      isDrawn = true
      placing.corner(data.position)
      placing.scheme(data.scheme)
      placing.title(iframe, data.title)
      placing.show(true)
    }
    if (type === 'ready') {
      clearTimeout(silence)
      isReady = true
      for (const message of waiting.splice(0)) post(message)
      layout()
      if (openAtOnce !== undefined && openAtOnce !== 'false') api.open()
    } else if (type === 'resize') {
      placing.size(data.width, data.height)
    } else if (type === 'open') {
      isOpen = true
      placing.opened(true)
      layout()
    } else if (type === 'close') {
      isOpen = false
      placing.opened(false)
      layout()
      // Focus returns to the element that opened the chat: one of the host, or the launcher inside the frame.
      if (cameFrom instanceof HTMLElement && cameFrom.isConnected) cameFrom.focus()
      cameFrom = null
    }
    if (typeof type !== 'string') return
    if (type === 'takeover') emit(PERSON[data.takeover_status] ?? 'takeover', data)
    else if (Object.hasOwn(EVENTS, type)) emit(EVENTS[type]!, data)
    else if (type === 'error') emit('error', data)
  }

  addEventListener('message', hear)
  const stopWatching = placing.watch(layout)

  const api = {
    isOpen: () => isOpen,
    isPlaced: () => iframe.isConnected,
    send: (type: string, more: object = {}) => post({ type, ...more }),
    open(): void {
      if (isOpen) return
      cameFrom = document.activeElement === document.body ? null : document.activeElement
      iframe.focus()
      post({ type: 'open' })
    },
    show: (shown: boolean) => placing.show(shown),
    remove(): void {
      removeEventListener('message', hear)
      clearTimeout(silence)
      stopWatching()
      placing.opened(false)
      iframe.remove()
    },
  }
  return api
}
