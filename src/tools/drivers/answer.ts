import { trustedFetch } from '../../kernel/outbound'
import { storable } from '../../kernel/text'
import type { SearchHit } from '../search'
import { ToolFailure } from '../tool'

const MAX_BYTES = 2 * 1024 * 1024

/** One question to the search server the operator named; JSON back. Throws {@link ToolFailure}, without its name. */
export async function askSearch(url: string, init: RequestInit): Promise<unknown> {
  const response = await trustedFetch(url, init).catch((error: unknown) => {
    if (init.signal?.aborted) throw error
    throw new ToolFailure('The search could not be made: its server cannot be reached.')
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new ToolFailure(`The search could not be made: its server answered with status ${response.status}.`)
  }
  return parse(await readBounded(response))
}

async function readBounded({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw new ToolFailure('The search could not be made: its answer is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ToolFailure('The search could not be made: its answer is not JSON.')
  }
}

/** A member of an answer that may be anything. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** The entries that are hits: with an address of the web, a title, and what the member `snippet` says. */
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

/** Without the marks by which search servers show what matched. */
function plain(value: unknown): string {
  if (typeof value !== 'string') return ''
  const text = value.slice(0, 2_000).replace(/<\/?(strong|b|em|mark)>/gi, '')
  return storable(
    text.replace(/&(amp|lt|gt|quot|#39|#x27|nbsp);/g, (whole, name: string) => ENTITIES[name] ?? whole),
  ).trim()
}
