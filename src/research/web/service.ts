import type { Values } from '../../kernel/config'
import { type Outbound, trustedFetch } from '../../kernel/outbound'
import { storable } from '../../kernel/text'
import { WebFailure } from '../errors'
import type { webSettings } from './config'
import { createPages } from './pages'

type SearchHit = { title: string; url: string; snippet: string }

/** The interface of a search backend. */
type SearchDriver = {
  /** The best hits first, at most `count`. Throws {@link WebFailure}. */
  search(query: string, count: number, signal: AbortSignal): Promise<SearchHit[]>
}

type SearchConfig = { baseUrl: string; apiKey: string }

const MAX_BYTES = 2 * 1024 * 1024

/** Reads one member of an untyped JSON value. Undefined when the value is not an object or lacks the member. */
const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'", nbsp: ' ' }

const TAVILY_BASE_URL = 'https://api.tavily.com'

/** Driver for the Tavily search API. */
const createTavily = ({ baseUrl, apiKey }: SearchConfig): SearchDriver => ({
  async search(query, count, signal) {
    const answer = await askSearch(`${(baseUrl || TAVILY_BASE_URL).replace(/(?<!\/)\/+$/, '')}/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ query, max_results: count, search_depth: 'basic' }),
      signal,
    })
    return toHits(member(answer, 'results'), 'content', count)
  },
})

const BASE_URL = 'https://api.search.brave.com'

/** Driver for the Brave Search API. */
const createBrave = ({ baseUrl, apiKey }: SearchConfig): SearchDriver => ({
  async search(query, count, signal) {
    const request = new URLSearchParams({ q: query, count: String(count), text_decorations: 'false' })
    const url = `${(baseUrl || BASE_URL).replace(/(?<!\/)\/+$/, '')}/res/v1/web/search?${request}`
    const headers = { accept: 'application/json', 'x-subscription-token': apiKey }
    const answer = await askSearch(url, { headers, signal })
    return toHits(member(member(answer, 'web'), 'results'), 'description', count)
  },
})

/** Driver for a SearXNG server. Its JSON format must be enabled (`search.formats: [html, json]`). */
const createSearxng = ({ baseUrl, apiKey }: SearchConfig): SearchDriver => ({
  async search(query, count, signal) {
    const url = `${baseUrl.replace(/(?<!\/)\/+$/, '')}/search?${new URLSearchParams({ q: query, format: 'json' })}`
    const headers = { accept: 'application/json', ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) }
    return toHits(member(await askSearch(url, { headers, signal }), 'results'), 'content', count)
  },
})

type WebSettings = Values<typeof webSettings>

export type Web = ReturnType<typeof createWeb>

/** The web for tools and research. `search` is null without a search server, or if its address or key is missing. */
export const createWeb = ({ outbound, settings }: { outbound: Outbound; settings: WebSettings }) => ({
  search: driverOf(settings)?.search ?? null,
  ...createPages({ outbound }),
})

/** Whether a search server is configured, with its address or key. */
export const hasSearch = (settings: WebSettings): boolean => driverOf(settings) !== null

function driverOf({ searchDriver, searchBaseUrl: baseUrl, searchApiKey: apiKey }: WebSettings): SearchDriver | null {
  switch (searchDriver) {
    case 'searxng':
      return baseUrl ? createSearxng({ baseUrl, apiKey }) : null
    case 'brave':
      return apiKey ? createBrave({ baseUrl, apiKey }) : null
    case 'tavily':
      return apiKey ? createTavily({ baseUrl, apiKey }) : null
    default:
      return null
  }
}

/**
 * Sends one request to the operator's search server and returns its JSON. Throws {@link WebFailure} without naming the
 * server.
 */
async function askSearch(url: string, init: RequestInit): Promise<unknown> {
  const response = await trustedFetch(url, init).catch((error: unknown) => {
    if (init.signal?.aborted) throw error
    throw new WebFailure('The search failed: its server cannot be reached.')
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new WebFailure(`The search failed: its server answered with status ${response.status}.`)
  }
  return parse(await readBounded(response))
}

async function readBounded({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new WebFailure('The search failed: its answer is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new WebFailure('The search failed: its answer is not JSON.')
  }
}

/** The first `count` entries with a title and an http(s) address. `snippet` names the member with the extract. */
function toHits(found: unknown, snippet: string, count: number): SearchHit[] {
  const entries: unknown[] = Array.isArray(found) ? found : []
  return entries
    .map((entry) => ({
      title: plain(member(entry, 'title')),
      url: plain(member(entry, 'url')),
      snippet: plain(member(entry, snippet)),
    }))
    .filter(({ title, url }) => title !== '' && /^https?:\/\//.test(url))
    .slice(0, count)
}

/** Removes highlighting tags and HTML entities that search servers add to titles and extracts. */
function plain(value: unknown): string {
  if (typeof value !== 'string') return ''
  const text = value.slice(0, 2_000).replace(/<\/?(strong|b|em|mark)>/gi, '')
  return storable(
    text.replace(/&(amp|lt|gt|quot|#39|#x27|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole),
  ).trim()
}
