// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { listen } from '../../support/listening'
import { createUpstreamWorld, freshPrompt } from '../upstream-world'

const { world } = await createUpstreamWorld()
const { baseUrl } = listen(world)
const ada = await world.person()
const SHOP = 'https://shop.example'
const { body: made } = await ada.send('POST', 'keys', { name: 'web', allowed_origins: [SHOP] })

/** Headers that a page may send, and answers' headers that it may read, without being allowed to. */
const SENT_FREELY = new Set(['accept', 'accept-language', 'content-language'])

/** Fetches as browsers do for a page of this origin: asks first, and hides answers that do not name the page. */
const asPageOf =
  (origin: string) =>
  async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    const names = [...request.headers.keys()].filter((name) => !SENT_FREELY.has(name))
    const requested = {
      'access-control-request-method': request.method,
      'access-control-request-headers': names.join(','),
    }
    const preflight = await fetch(request.url, { method: 'OPTIONS', headers: { origin, ...requested } })
    const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/, ?/)
    const missing = names.filter((name) => !allowed.includes(name))
    if (!preflight.ok || missing.length) throw new TypeError(`Failed to fetch: may not send ${missing}`)
    request.headers.set('origin', origin)
    const answer = await fetch(request)
    const reader = answer.headers.get('access-control-allow-origin')
    if (reader !== origin && reader !== '*') throw new TypeError('Failed to fetch: may not read the answer')
    return answer
  }

const inPage = (apiKey: string, origin = SHOP) =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0, fetch: asPageOf(origin), dangerouslyAllowBrowser: true })
const order = () => ({ model: 'svc-1-auto', messages: [{ role: 'user' as const, content: freshPrompt() }] })

describe('the openai package in a page', () => {
  test('chats with a key that allows the page', async () => {
    const { choices } = await inPage(made.key).chat.completions.create(order())
    expect(choices[0]?.message.content).toBe('Hello from the scripted upstream.')
  })

  test('streams', async () => {
    const stream = await inPage(made.key).chat.completions.create({ ...order(), stream: true })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('Hello from the scripted upstream.')
  })

  test('says that its key is wrong, not that the connection failed', async () => {
    const error = await inPage('svc_sk_live_nope')
      .chat.completions.create(order())
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
  })

  test('gets nothing to read in a page that the key does not allow', async () => {
    const elsewhere = inPage(made.key, 'https://evil.example')
    const error = await elsewhere.chat.completions.create(order()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(OpenAI.APIConnectionError)
  })
})
