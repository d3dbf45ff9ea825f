import { hostOf } from '../text'

/** An address worth reading, and what is known of it before. */
export type Candidate = { url: string; title: string | null }
type Hit = { title: string; url: string }

/** Reciprocal rank fusion: an address that several searches find early stands before one that a single search does. */
const FUSION = 60
/** A site may fill this share of what is read, unless the prompt names its pages. */
const MOST_OF_HOST = 0.4

const TRACKING = /^(?:utm_\w+|gclid|fbclid|mc_[ce]id|ref|ref_src|igshid|msclkid)$/i

/** An address without what does not change the page: fragment, tracking, the ports and slashes that say nothing. */
export function plainAddress(address: string): string | null {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return null
  url.hash = ''
  for (const name of [...url.searchParams.keys()]) if (TRACKING.test(name)) url.searchParams.delete(name)
  return url.href
}

/** Whether two addresses lead to one page, as far as their text tells. */
const keyOf = (address: string): string => address.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/$/, '')

/** What to read, in order: the pages that the prompt names, then what the searches found, of few sites not too many. */
export function rankCandidates(
  named: readonly string[],
  searches: readonly (readonly Hit[])[],
  most: number,
): Candidate[] {
  const seen = new Set<string>()
  const first = named.flatMap((address) => {
    const url = plainAddress(address)
    if (!url || seen.has(keyOf(url))) return []
    seen.add(keyOf(url))
    return [{ url, title: null }]
  })
  const scores = new Map<string, Candidate & { score: number }>()
  for (const hits of searches) {
    for (const [place, { url: address, title }] of hits.entries()) {
      const url = plainAddress(address)
      if (!url || seen.has(keyOf(url))) continue
      const known = scores.get(keyOf(url)) ?? { url, title, score: 0 }
      scores.set(keyOf(url), { ...known, score: known.score + 1 / (FUSION + place) })
    }
  }
  const found = [...scores.values()].sort((a, b) => b.score - a.score)
  return [...first, ...withVariety(found, Math.max(2, Math.ceil(most * MOST_OF_HOST)))]
}

/** What is too much of one site comes last: it is read when nothing else is left. */
function withVariety(found: readonly Candidate[], mostOfHost: number): Candidate[] {
  const counts = new Map<string, number>()
  const late = new Set<Candidate>()
  for (const one of found) {
    const host = hostOf(one.url) ?? ''
    const count = (counts.get(host) ?? 0) + 1
    counts.set(host, count)
    if (count > mostOfHost) late.add(one)
  }
  const plain = ({ url, title }: Candidate): Candidate => ({ url, title })
  return [...found.filter((one) => !late.has(one)), ...late].map(plain)
}
