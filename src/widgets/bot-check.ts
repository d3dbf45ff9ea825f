import type { Values } from '../kernel/config'
import { type Outbound, OutboundFailure } from '../kernel/outbound'
import type { widgetSettings } from './config'
import { botRefused } from './errors'

type Settings = Pick<
  Values<typeof widgetSettings>,
  'turnstileSecret' | 'turnstileUrl' | 'turnstileSiteKey' | 'turnstileScript'
>

const MAX_BYTES = 16 * 1024
const TIMEOUT_MS = 5_000

/** Asks whether a visitor passed the bot check. The protocol is Turnstile's, which others speak too. */
export function createBotCheck(outbound: Pick<Outbound, 'fetchPublic'>, settings: Settings) {
  const isSetUp = settings.turnstileSecret !== ''
  return { isSetUp, siteKey: settings.turnstileSiteKey || null, script: settings.turnstileScript, assertHuman }

  /** Throws 403 `bot_check_failed`; without an answer nobody is let in. */
  async function assertHuman(token: string | undefined, ip: string): Promise<void> {
    if (!token) throw botRefused('no turnstile_token was sent')
    if (!isSetUp) throw botRefused('it is not set up on this server')
    const body = new URLSearchParams({ secret: settings.turnstileSecret, response: token, remoteip: ip }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const request = { method: 'POST' as const, headers, body, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS }
    const answer = await outbound.fetchPublic(settings.turnstileUrl, request).catch((error: unknown) => {
      if (error instanceof OutboundFailure) throw botRefused('it could not be reached')
      throw error
    })
    if (!isPassed(answer.body)) throw botRefused('it rejected the token')
  }
}

function isPassed(body: Uint8Array): boolean {
  try {
    return (JSON.parse(Buffer.from(body).toString('utf8')) as { success?: unknown }).success === true
  } catch {
    return false
  }
}
