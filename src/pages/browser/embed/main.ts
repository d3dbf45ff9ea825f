/**
 * The one tag that a site pastes: `<script async src="…/embed.js" data-config-id="…"></script>` (docs/operating.md 5.2,
 * docs/api.md 15). It adds one frame to the page and passes messages. Everything visible is drawn inside the frame. It
 * never throws into the host's page.
 */
import { createApi, type WidgetApi } from './api'
import { createFrame } from './frame'

declare global {
  interface Window {
    svcWidget?: WidgetApi | unknown[][]
  }
}

function start(script: HTMLScriptElement): void {
  const { configId, ...options } = script.dataset
  if (!configId || !/^[\w-]{1,64}$/.test(configId)) return
  const base = new URL(script.src, location.href)
  const early = window.svcWidget
  const api = early && !Array.isArray(early) ? early : createApi()
  if (api.has(configId)) {
    // biome-ignore lint/suspicious/noConsole: the one message that the person who pasted the tag needs
    console.info('svc widget: this chat is already on the page; the second tag does nothing.')
    return
  }
  window.svcWidget = api
  const insert = () => {
    // Another tag may have waited for the page, too.
    if (!api.has(configId)) api.add(configId, createFrame({ id: configId, base, options, emit: api.emit }))
  }
  if (document.body) insert()
  else document.addEventListener('DOMContentLoaded', insert, { once: true })
  if (Array.isArray(early)) for (const order of early) api.push(order)
}

try {
  const script = document.currentScript
  if (script instanceof HTMLScriptElement) start(script)
} catch {
  // If the host forbids something, its page must keep working.
}
