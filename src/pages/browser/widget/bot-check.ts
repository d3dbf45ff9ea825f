import { h } from '../shared/dom'
import { Failure } from '../shared/http'
import type { PublicConfig } from './wire'
import { WORDS } from './words'

/** The used part of Turnstile's script. Other services offer the same interface. */
type Checker = {
  render(
    where: HTMLElement,
    options: {
      sitekey: string
      callback(token: string): void
      'error-callback'(): void
      'expired-callback'(): void
    },
  ): unknown
}

/**
 * The bot check that an owner may require. Shown above the field before a chat begins, and removed once it is passed.
 * It is not a puzzle (SC 3.3.8). Without a bot check, `token` returns undefined.
 */
export function createBotCheck({ security = {} }: PublicConfig) {
  const { requireTurnstile, turnstileSiteKey: sitekey, turnstileScript: address } = security
  const box = h('div', {})
  const element = h('div', { class: 'bot-check', role: 'group', 'aria-label': WORDS.botCheck, hidden: true })
  element.append(h('p', {}, WORDS.botCheckWhy), box)
  let loaded: Promise<void> | null = null

  function load(from: string): Promise<void> {
    loaded ??= new Promise((resolve, reject) => {
      const script = h('script', { src: from, async: true, load: () => resolve() })
      script.addEventListener('error', () => {
        loaded = null
        script.remove()
        reject(failed())
      })
      document.head.append(script)
    })
    return loaded
  }

  /** Throws `Failure` with `bot_check_failed`. */
  async function token(): Promise<string | undefined> {
    if (!requireTurnstile || !sitekey || !address) return undefined
    await load(`${address}?render=explicit`)
    const { turnstile } = window as unknown as { turnstile?: Checker }
    if (!turnstile) throw failed()
    element.hidden = false
    const place = h('div', {})
    box.replaceChildren(place)
    try {
      return await new Promise<string>((resolve, reject) => {
        const refuse = () => reject(failed())
        turnstile.render(place, { sitekey, callback: resolve, 'error-callback': refuse, 'expired-callback': refuse })
      })
    } finally {
      element.hidden = true
      box.replaceChildren()
    }
  }

  return { element, token }
}

const failed = () => new Failure(403, 'bot_check_failed', WORDS.botCheckFailed)
