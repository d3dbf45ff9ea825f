import type { TopicFacts } from '../../src/operators/topics-schema'
import {
  bar,
  beside,
  between,
  chart,
  fit,
  type Line,
  line,
  placed,
  type Span,
  spark,
  textSpan,
  widthOf,
} from '../draw/line'
import { spellAge, spellCount, spellDollars, spellMs, spellShare, spellUptime } from '../draw/spell'
import { type Model, rowsOf, type Screen } from '../state/model'
import { screenOfPane } from '../state/rows'
import { needRows } from './needs'

export type Facts = TopicFacts<'overview'>
type Probe = Facts['providers'][string]

const DAY_MS = 86_400_000

/** Null before the first answer. */
const factsOf = ({ topics }: Model): Facts | null => {
  const facts = topics.overview?.facts as Facts | undefined
  return facts?.status ? facts : null
}

/** Names sources that do not answer. Their last known values stay on the screen. */
const failingLine = ({ failing = [] }: Facts): Line =>
  failing.length ? line(textSpan(` ! ${failing.join(', ')}: no answer; last known values`, 'warn')) : []

function probeSpan(name: string, { status, latencyMs }: Probe): Span {
  const took = latencyMs === null ? '' : ` ${spellMs(latencyMs)}`
  if (status === 'healthy') return textSpan(`  ✓ ${name}${took}`, 'good')
  if (status === 'degraded') return textSpan(`  ! ${name}${took} degraded`, 'warn')
  if (status === 'down') return textSpan(`  ✗ ${name} down`, 'bad')
  return textSpan(`  – ${name} not set`, 'dim')
}

const HEALTH: Readonly<Record<string, Span>> = {
  healthy: textSpan('✓ healthy', 'good'),
  down: textSpan('✗ down', 'bad'),
}

/** Empty for a single node. */
const nodesSpans = ({ count, unserved }: Facts['status']['nodes'], gap: string): (Span | string)[] =>
  unserved.length
    ? [gap, textSpan(`! no node runs ${unserved.join(', ')}`, 'bad')]
    : count > 1
      ? [`${gap}${count} nodes`]
      : []

function health({ status, infrastructure, browser, queue }: Facts, now: number, width: number): Line {
  const { database, redis } = infrastructure
  const left = (gap: string): Line =>
    line(
      ' HEALTH   ',
      HEALTH[status.health] ?? textSpan('! degraded', 'warn'),
      `${gap} db ${spellMs(database?.latencyMs)}${gap}`,
      redis && redis.status !== 'unconfigured' ? `redis ${spellMs(redis.latencyMs)}${gap}` : '',
      queue.failed ? textSpan(`jobs ! ${queue.failed} failed`, 'warn') : 'jobs ✓',
      `${gap}browser ${browser.slots ? '✓' : '–'}`,
      ...nodesSpans(status.nodes, gap),
    )
  const up = line(`up ${spellUptime(now - Date.parse(status.started_at))} `)
  const fits = [left('   '), left('  ')].find((one) => widthOf(one) + widthOf(up) < width)
  return fits ? between(fits, up, width) : left('  ')
}

const engines = ({ providers }: Facts): Line =>
  line(' ENGINES', ...Object.entries(providers).map(([name, probe]) => probeSpan(name.replace('svc-', ''), probe)))

function requests({ traffic, spend }: Facts, width: number): Line[] {
  const { recent } = traffic
  return [
    placed(
      width,
      [0, ` REQUESTS ${spellCount(traffic.per_minute)}/min`],
      [38, `errors ${spellShare(recent.error_rate ?? 0)}`],
      [57, `p50 ${spellMs(recent.p50)}`],
      [69, `p95 ${spellMs(recent.p95)}`],
    ),
    line(` ${spark(traffic.requests, Math.min(65, width - 14))}  last 60 min`),
    line(
      ` 4xx ${rate(recent['4xx'])}/min  429 ${rate(recent['429'])}/min  402 ${rate(recent['402'])}/min  5xx ${rate(recent['5xx'])}/min   cache hit ${spellShare(spend.cache_rate)}`,
      spend.saved_cents ? `  saved ~${spellDollars(spend.saved_cents)}` : '',
    ),
  ]
}

const rate = (value: number | undefined): string => (value ? value.toFixed(1) : '0')

function sums({ queue, delivery, spend, browser }: Facts, now: number): Line[] {
  const [top] = spend.owners
  return [
    line(
      ` QUEUE     queued ${queue.queued}   active ${queue.active}   failed ${queue.failed} in 1h`.padEnd(57),
      queue.oldest ? `oldest queued ${spellAge(now - Date.parse(queue.oldest))}` : '',
    ),
    line(
      ` DELIVERY  ok ${spellCount(delivery.ok)}/h  failed ${spellCount(delivery.failed)}/h retrying ${delivery.retrying}`.padEnd(
        57,
      ),
      delivery.slowest_ms ? `slowest ${spellMs(delivery.slowest_ms)}` : '',
    ),
    line(
      ` SPEND     today ${spellDollars(spend.cost_cents)}  ${capOf(spend, 20)}`.padEnd(66),
      top ? `top ${top.owner}` : '',
    ),
    line(
      ` BROWSER   ${browser.open} open of ${browser.slots}`.padEnd(29),
      browser.open ? `longest ${spellAge(browser.longest_ms)} of ${spellAge(browser.cap_ms)} cap` : '',
    ),
  ]
}

/** The body in one pane. */
export function overview(model: Model, width: number, height: number): Line[] {
  const facts = factsOf(model)
  const trouble = model.topics.overview?.trouble
  if (!facts) return [line(trouble ? textSpan(` ! ${trouble}`, 'warn') : ' · · ·')]
  if (width >= 120) return wide(model, facts, width, height)
  return [
    health(facts, model.now, width),
    engines(facts),
    failingLine(facts),
    ...requests(facts, width),
    [],
    placed(width, [0, ' NEEDS A PERSON'], [width - 16, 'OLDEST'], [width - 7, 'OPEN']),
    ...needRows(model, width),
    [],
    ...sums(facts, model.now),
  ]
}

function wide(model: Model, facts: Facts, width: number, height: number): Line[] {
  // The right pane gets half of the extra width of a wide window.
  const side = Math.max(48, Math.floor(width / 2) - 20)
  const main = width - side - 2
  return beside(mainPane(model, facts, main), sidePane(model, facts, side), [main, side], height)
}

function mainPane(model: Model, facts: Facts, width: number): Line[] {
  const { traffic, spend } = facts
  const sparks = Math.min(60, width - 24)
  return [
    health(facts, model.now, width),
    engines(facts),
    failingLine(facts),
    placed(width, [0, ` REQUESTS ${spellCount(traffic.per_minute)}/min`], [47, 'last 60 min, one column a minute']),
    ...chart(traffic.requests, 4, Math.min(66, width - 5)).map((row) => line(` ${row}`)),
    [],
    line(` ERRORS  ${spellShare(traffic.recent.error_rate ?? 0).padEnd(6)} ${spark(traffic.errors, sparks)}`),
    line(` P95     ${spellMs(traffic.recent.p95).padEnd(6)} ${spark(traffic.p95s, sparks)}`),
    line(
      ` CACHE   ${spellShare(spend.cache_rate).padEnd(6)} `,
      spark(
        spend.cached.flatMap((share) => Array<number>(5).fill(share)),
        sparks,
      ),
    ),
    [],
    line(' BY MODE        req/min   p50    p95    err    $/h   SHARE'),
    ...modeRows(spend.modes, width),
    ...besideYesterday(spend.slot),
  ]
}

/** Compares the last five minutes with the same minutes yesterday. Empty if either had no calls. */
function besideYesterday({ now, day_ago: then }: Facts['spend']['slot']): Line[] {
  if (!now.requests || !then.requests) return []
  const signed = (value: number, words: string) => `${value < 0 ? '-' : '+'}${words}`
  const by = now.requests / then.requests - 1
  const errors = (now.error_rate - then.error_rate) * 100
  const slower = (now.p95 ?? 0) - (then.p95 ?? 0)
  const dearer = now.cost_cents - then.cost_cents
  return [
    [],
    line(
      ' SAME FIVE MINUTES YESTERDAY',
      `  req ${signed(by, `${Math.abs(by * 100).toFixed(0)}%`)}`,
      `   errors ${signed(errors, `${Math.abs(errors).toFixed(1)} pts`)}`,
      `   p95 ${signed(slower, spellMs(Math.abs(slower)))}`,
      `   cost ${signed(dearer, spellDollars(Math.abs(dearer)))}`,
    ),
  ]
}

function modeRows(modes: Facts['spend']['modes'], width: number): Line[] {
  if (!modes.length) return [line(textSpan(' no call in the last hour', 'dim'))]
  const max = Math.max(...modes.map(({ per_minute }) => per_minute))
  const share = Math.min(20, width - 55)
  return modes.map(({ mode, per_minute, p50, p95, error_rate, cost_cents }) =>
    line(
      ` ${mode.padEnd(14)}${per_minute.toFixed(per_minute < 10 ? 1 : 0).padStart(8)}   ${spellMs(p50).padEnd(6)} ${spellMs(p95).padEnd(6)} ${spellShare(error_rate).padEnd(6)} ${(cost_cents / 100).toFixed(2).padEnd(5)} ${bar(per_minute / max, share).replaceAll('░', ' ')}`,
    ),
  )
}

/** The failing addresses, each once, with its newest attempt. */
function failingLines(model: Model, arrived: number): Line[] {
  const failed = rowsOf(model, 'deliveries').filter(({ status }) => status === 'failed')
  const newest = [...Map.groupBy(failed, ({ webhook }) => webhook.url).values()].map(([first]) => first!).slice(0, 3)
  if (!newest.length) return [line(textSpan(` ✓ none, ${spellCount(arrived)} arrived in 1h`, 'good'))]
  return newest.map(({ webhook, http_status, attempt, next_retry_at }) =>
    line(
      next_retry_at ? textSpan(' ↻ ', 'retry') : textSpan(' ✗ ', 'bad'),
      fit(webhook.url.replace(/^https?:\/\//, ''), 22),
      ` ${String(http_status ?? 'none').padEnd(5)}`,
      next_retry_at ? `try ${attempt + 1} to come` : `x${webhook.failure_count} in a row`,
    ),
  )
}

function sidePane(model: Model, { queue, spend, browser, delivery }: Facts, width: number): Line[] {
  const running = rowsOf(model, 'jobs')
    .filter(({ status }) => status === 'active')
    .slice(0, 4)
  const title = (pane: Screen, text: string) =>
    line(screenOfPane(model) === pane ? textSpan(`▸${text}`, 'strong') : ` ${text}`)
  // Share of the UTC day that has passed. The forecast extrapolates from it, after the first hour of the day.
  const gone = (model.now % DAY_MS) / DAY_MS
  return [
    placed(width, [0, ' NEEDS A PERSON'], [width - 13, 'OLDEST'], [width - 6, 'OPEN']),
    ...needRows(model, width),
    [],
    title('jobs', 'JOBS RUNNING'),
    ...running.map((job) =>
      line(` ◐ ${job.id.slice(0, 10)} ${String(job.type).padEnd(8)} ${bar(job.progress / 100, 12)} ${job.progress}%`),
    ),
    line(
      queue.oldest
        ? ` … ${queue.queued} queued, oldest ${spellAge(model.now - Date.parse(queue.oldest))}`
        : textSpan(' … 0 queued', 'dim'),
    ),
    [],
    title('deliveries', 'DELIVERIES FAILING'),
    ...failingLines(model, delivery.ok),
    [],
    title('browser', `BROWSER ${browser.open} of ${browser.slots}`),
    ...rowsOf(model, 'browser')
      .slice(0, 3)
      .map(({ id, title, url, expires_at, waits }) => {
        const left = spellAge(Date.parse(expires_at) - model.now)
        const page = waits ? 'needs a person' : (title ?? url ?? '').slice(0, 24)
        const what = line(waits ? textSpan(' ! ', 'warn') : ' ● ', `${id.slice(-6)} ${page}`)
        return between(what, line(`${left} `), Math.max(widthOf(what), width - 2))
      }),
    [],
    line(
      ` SPEND TODAY  ${spellDollars(spend.cost_cents)}${gone < 1 / 24 || !spend.cost_cents ? '' : `  forecast $${Math.round(spend.cost_cents / gone / 100)}`}`,
    ),
    ...(spend.cap_cents ? [line(` ${capOf(spend, 19)}`)] : []),
    line(` ${spend.owners.map(({ owner, cost_cents }) => `${owner} ${spellDollars(cost_cents)}`).join('  ')}`),
  ]
}

/** Used share of the owners' daily caps, as a bar and in words. Empty without caps. */
function capOf({ cap_cents: cap, capped_cents: used }: Facts['spend'], width: number): string {
  if (!cap) return ''
  return `${bar(used / cap, width)} ${spellShare(used / cap)} of ${spellDollars(cap)} cap${width < 20 ? '' : 's'}`
}
