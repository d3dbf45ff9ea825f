/**
 * How long a page of a store of many skills takes, searched and not: the whole request, from the call of the
 * server to its answer; beside it what of that this process was on the processor, which a busy machine leaves alone.
 * `bun run bench skills --skills=100000 [--postgres=postgres://…]`; without the address on SQLite. Ends with status 1
 * when a kind of page is above its limit at p99.
 */
import { SQL } from 'bun'
import type { OpenApp } from '../../src/app/open'
import { skills } from '../../src/skills/table'
import { skillRow } from '../skills/rows'
import { percentile } from '../support/percentile'
import { spentBy } from '../support/spent'
import { addOwner } from '../webhooks/crowd'
import { count, openBench, print } from './setup'
import { createLottery, type Lottery } from './skills-words'

const SKILLS = count('skills', 100_000)
const RUNS = count('runs', 300)
const LIMIT_MS = 20
let slow = false

const { app, place, close } = await openBench('skills', {
  tiers: { enterprise: { rpm: 1_000_000_000, tpm: 1_000_000_000 } },
})
try {
  const { key } = await addOwner(app, 0)
  const lottery = createLottery(7)
  await seed(app, lottery)
  // As Postgres does by itself in a minute.
  if (place.dialect === 'postgres') await analyze(place.url)
  print(`${SKILLS} skills on ${app.store.dialect}, ${RUNS} pages of 50 a kind; limit ${LIMIT_MS} ms at p99`)
  for (const [kind, query] of kindsOf(lottery)) slow = (await measure(app, key, kind, query)) || slow
} finally {
  await close()
}
process.exit(slow ? 1 : 0)

/** Each kind of page, and the query of its nth request. */
function kindsOf({ word, rare }: Lottery): [string, (n: number) => string][] {
  const sorts = ['installs', 'rating', 'newest']
  const sorted = (n: number) => `sort=${sorts[n % 3]}`
  return [
    ['the store, sorted', (n) => `${sorted(n)}&n=${n}`],
    ['one category', (n) => `category=${['domain', 'creative', 'automation'][n % 3]}&${sorted(n)}`],
    ['a word of every second skill', () => 'q=helps'],
    ['a common word', (n) => `q=${word(n % 20)}&${sorted(n)}`],
    ['a word of the middle', (n) => `q=${word(200 + (n % 200))}&${sorted(n)}`],
    ['a rare word', (n) => `q=${word(4_000 + (n % 900))}&${sorted(n)}`],
    ['the beginning of a word', (n) => `q=${word(n % 300).slice(0, 2 + (n % 2))}&${sorted(n)}`],
    ['one letter', (n) => `q=${'abcdefghijklmnoprstuvw'[n % 22]}&${sorted(n)}`],
    ['two common words', (n) => `q=${word(n % 20)}%20${word((n * 7 + 1) % 20)}&${sorted(n)}`],
    ['a common and a rare word', (n) => `q=${word(n % 20)}%20${word(3_000 + (n % 900))}&${sorted(n)}`],
    ['three words', (n) => `q=${word(n % 50)}%20${word((n * 3 + 2) % 50)}%20${word((n * 11 + 5) % 50)}`],
    ['two words that meet nowhere', (n) => `q=${rare(n)}%20${rare(n + 1)}`],
    ['a word and a category', (n) => `q=${word(n % 100)}&category=domain&${sorted(n)}`],
    ['a word of nobody', (n) => `q=zzyzx${n}`],
  ]
}

async function measure(app: OpenApp, key: string, kind: string, query: (n: number) => string): Promise<boolean> {
  const [times, ran]: [number[], number[]] = [[], []]
  let found = 0
  for (let n = 0; n < RUNS + 20; n++) {
    const url = `http://localhost/api/v1/skills?${query(n)}`
    const [began, ranBefore] = [performance.now(), spentBy('thread-self').ranMs]
    const reply = await app.api.handle(new Request(url, { headers: { authorization: `Bearer ${key}` } }))
    const body = await reply.json()
    // The first of each kind are read from a disk that has not seen them, by code that is not compiled yet.
    if (n >= 20) {
      times.push(performance.now() - began)
      ran.push(spentBy('thread-self').ranMs - ranBefore)
    }
    if (reply.status !== 200) throw new Error(`${url}: ${reply.status} ${JSON.stringify(body)}`)
    found += body.skills.length
  }
  const isSlow = percentile(times, 0.99) > LIMIT_MS
  const figures = (list: number[]) =>
    [0.5, 0.99, 1].map((share) => percentile(list, share).toFixed(1).padStart(6)).join(' ')
  const shown = (found / (RUNS + 20)).toFixed(0).padStart(3)
  print(
    `${isSlow ? 'SLOW' : 'ok  '} ${kind.padEnd(30)} p50 p99 max ms ${figures(times)}   processor ${figures(ran)}   ${shown} a page`,
  )
  return isSlow
}

async function seed({ store }: OpenApp, { word, rare, draw }: Lottery): Promise<void> {
  const began = performance.now()
  for (let start = 0; start < SKILLS; start += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, SKILLS - start) }, (_, place) => rowOf(start + place))
    await store.write(async (tx) => void (await tx.insert(tx.of(skills)).values(rows)))
  }
  print(`seeded in ${((performance.now() - began) / 1000).toFixed(1)} s`)

  function rowOf(at: number) {
    const name = `${word(draw())} ${word(draw())}`
    const description = Array.from({ length: 14 }, () => word(draw())).join(' ')
    const keywords = [word(draw()), word(draw())]
    const helps = at % 2 ? 'helps ' : ''
    return skillRow(at, {
      slug: `bench-${at}`,
      name,
      description,
      keywords,
      category: ['productivity', 'domain', 'integration', 'automation', 'creative'][at % 5]!,
      search_text: `${name} bench ${at} ${helps}${description} ${keywords.join(' ')} ${rare(at)}`,
      install_count: (at * 7919) % 10_007,
      rating: at % 500,
    })
  }
}

async function analyze(url: string): Promise<void> {
  const client = new SQL(url, { max: 1 })
  await client.unsafe('VACUUM ANALYZE skills')
  await client.close()
}
