import { trustedFetch } from '../../kernel/outbound'
import { storable } from '../../kernel/text'
import { WebFailure } from '../failure'
import type { SearchHit } from '../search'

const MAX_BYTES = 2 * 1024 * 1024

/**
 * Sends one request to the operator's search server, returns its JSON. Throws {@link WebFailure} without naming it.
 */
export async function askSearch(url: string, init: RequestInit): Promise<unknown> {
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

/** Reads one member of an untyped JSON value; undefined when the value is no object or lacks the member. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** The first `count` entries with a title and an http(s) address; `snippet` names the member with the extract. */
export function toHits(found: unknown, snippet: string, count: number): SearchHit[] {
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

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'", nbsp: ' ' }

/** Removes the highlighting tags and HTML entities that search servers put into titles and extracts. */
function plain(value: unknown): string {
  if (typeof value !== 'string') return ''
  const text = value.slice(0, 2_000).replace(/<\/?(strong|b|em|mark)>/gi, '')
  return storable(
    text.replace(/&(amp|lt|gt|quot|#39|#x27|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole),
  ).trim()
}
