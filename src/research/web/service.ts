import type { Values } from '../../kernel/config'
import { parsedJson } from '../../kernel/json'
import { type Outbound, trustedFetch } from '../../kernel/outbound'
import { storable } from '../../kernel/text'
import { WebFailure } from '../errors'
import type { webSettings } from './config'
import { createPages } from './pages'

type SearchHit = { title: string; url: string; snippet: string }

/** The best hits of a search backend first, at most `count`. Throws {@link WebFailure}. */
type Search = (query: string, count: number, signal: AbortSignal) => Promise<SearchHit[]>

const MAX_BYTES = 2 * 1024 * 1024

/** Reads one member of an untyped JSON value. Undefined when the value is not an object or lacks the member. */
const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'", nbsp: ' ' }

type WebSettings = Values<typeof webSettings>

export type Web = ReturnType<typeof createWeb>

/** The web for tools and research. `search` is null without a search server, or if its address or key is missing. */
export const createWeb = ({ outbound, settings }: { outbound: Outbound; settings: WebSettings }) => ({
  search: searchOf(settings),
  ...createPages({ outbound }),
})

/** Whether a search server is configured, with its address or key. */
export const hasSearch = (settings: WebSettings): boolean => searchOf(settings) !== null

function searchOf({ searchDriver, searchBaseUrl, searchApiKey: apiKey }: WebSettings): Search | null {
  const baseUrl = searchBaseUrl.replace(/(?<!\/)\/+$/, '')
  const bearer: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {}
  // The JSON format of a SearXNG server must be enabled (`search.formats: [html, json]`).
  if (searchDriver === 'searxng' && baseUrl)
    return async (query, count, signal) => {
      const url = `${baseUrl}/search?${new URLSearchParams({ q: query, format: 'json' })}`
      const answer = await askSearch(url, { headers: { accept: 'application/json', ...bearer }, signal })
      return toHits(member(answer, 'results'), 'content', count)
    }
  if (searchDriver === 'brave' && apiKey)
    return async (query, count, signal) => {
      const request = new URLSearchParams({ q: query, count: String(count), text_decorations: 'false' })
      const url = `${baseUrl || 'https://api.search.brave.com'}/res/v1/web/search?${request}`
      const headers = { accept: 'application/json', 'x-subscription-token': apiKey }
      const answer = await askSearch(url, { headers, signal })
      return toHits(member(member(answer, 'web'), 'results'), 'description', count)
    }
  if (searchDriver === 'tavily' && apiKey)
    return async (query, count, signal) => {
      const answer = await askSearch(`${baseUrl || 'https://api.tavily.com'}/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer },
        body: JSON.stringify({ query, max_results: count, search_depth: 'basic' }),
        signal,
      })
      return toHits(member(answer, 'results'), 'content', count)
    }
  return null
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
  const answer = parsedJson(await readBounded(response))
  if (answer === undefined) throw new WebFailure('The search failed: its answer is not JSON.')
  return answer
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
