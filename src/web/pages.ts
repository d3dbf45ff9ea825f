import { iso } from '../kernel/clock'
import { type Outbound, OutboundFailure, type PublicResponse } from '../kernel/outbound'
import { createSemaphore } from '../kernel/semaphore'
import { storable } from '../kernel/text'
import { WebFailure } from './failure'
import { type By, createReading, type Given, MAX_BYTES } from './reading'

const MAX_HOPS = 5
const HOP_MS = 10_000
/** Each fetch may hold 8 MiB in memory, so this bounds the total to 128 MiB. */
const MOST_AT_ONCE = 16
const MOST_OF_ONE = 8

type Fetched = PublicResponse & { url: string }

/** A page as readers see it. `url` is the address it came from in the end, after redirects. */
type Page = Read & { url: string }

/** `publishedAt` in ISO 8601; null where the page does not say. */
type Read = { title: string | null; text: string; publishedAt: string | null }

/**
 * Reads public addresses: the article of a page, the text of a PDF, or plain text unchanged. Every request, redirects
 * included, goes through the SSRF guard; at most 2 MiB, or 8 MiB for a PDF. Throws {@link WebFailure}.
 */
export function createPages({ outbound }: { outbound: Outbound }) {
  const read = createReading()
  const semaphore = createSemaphore(MOST_AT_ONCE, MOST_OF_ONE)

  return {
    read: (url: string, by: By): Promise<Page> =>
      semaphore.run(by.who, async () => {
        const { signal } = by
        signal.throwIfAborted()
        const fetched = await follow(withoutFragment(url), signal)
        return { url: fetched.url, ...(await readGiven(given(fetched), by)) }
      }),
    /** The text of bytes that are here already. Throws {@link WebFailure}. */
    readBytes: readGiven,
  }

  async function readGiven(bytes: Given, by: By): Promise<Read> {
    const { title, text, publishedAt } = await read(bytes, by)
    return { title: title === null ? null : storable(title), text: storable(text), publishedAt: isoOf(publishedAt) }
  }

  /** Follows redirects one by one, because each target must pass the SSRF guard again. */
  async function follow(first: string, signal: AbortSignal): Promise<Fetched> {
    let url = first
    for (let hop = 0; hop <= MAX_HOPS; hop++) {
      const answer = await fetchOnce(url, signal)
      const next = nextOf(answer, url)
      if (next === null) return { ...answer, url }
      url = next
    }
    throw new WebFailure(`The address redirects more than ${MAX_HOPS} times.`)
  }

  async function fetchOnce(url: string, signal: AbortSignal): Promise<PublicResponse> {
    try {
      const headers = {
        'user-agent': 'svc-fetch/1',
        accept: 'text/html,application/json,application/pdf,text/*;q=0.9,*/*;q=0.1',
      }
      return await outbound.fetchPublic(url, { headers, maxBytes: MAX_BYTES, timeoutMs: HOP_MS, signal })
    } catch (error) {
      if (error instanceof OutboundFailure) throw new WebFailure(`The address could not be read: ${error.message}.`)
      throw error
    }
  }
}

function given({ status, headers, body }: Fetched): Given {
  if (status < 200 || status > 299) throw new WebFailure(`The address answered with status ${status}.`)
  return { contentType: headers['content-type'] ?? '', body }
}

const withoutFragment = (url: string): string => url.split('#')[0]!

/** The redirect target of a response, without its fragment; null when it is no redirect. */
function nextOf({ status, headers }: PublicResponse, from: string): string | null {
  if (![301, 302, 303, 307, 308].includes(status) || !headers.location) return null
  const next = URL.parse(headers.location, from)
  if (!next) throw new WebFailure('The address redirects to an invalid address.')
  return withoutFragment(next.href)
}

function isoOf(said: string | null): string | null {
  const at = said === null ? Number.NaN : Date.parse(said)
  return Number.isNaN(at) ? null : iso(at)
}
