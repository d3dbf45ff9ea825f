import { bar } from '../draw/charts'
import { between, fit, type Line, line, placed, say, widthOf } from '../draw/line'
import { spellAge, spellCount, spellDollars } from '../draw/spell'
import type { Model, Screen } from '../state/model'
import { screenOfPane } from '../state/panes'
import { needRows } from './needs'
import { capOf, type Facts, forecast } from './overview-facts'

type Failing = {
  webhook: { url: string; failure_count: number }
  http_status: number | null
  attempt: number
  next_retry_at: string | null
}

/** The addresses that fail, each once, with its newest attempt. */
function failingLines({ topics }: Model, arrived: number): Line[] {
  const failed = (topics.deliveries?.rows ?? []).filter(({ status }) => status === 'failed') as unknown as Failing[]
  const newest = [...Map.groupBy(failed, ({ webhook }) => webhook.url).values()].map(([first]) => first!).slice(0, 3)
  if (!newest.length) return [line(say(` ✓ none, ${spellCount(arrived)} arrived in 1h`, 'good'))]
  return newest.map(({ webhook, http_status, attempt, next_retry_at }) =>
    line(
      next_retry_at ? say(' ↻ ', 'retry') : say(' ✗ ', 'bad'),
      fit(webhook.url.replace(/^https?:\/\//, ''), 22),
      ` ${String(http_status ?? 'none').padEnd(5)}`,
      next_retry_at ? `try ${attempt + 1} to come` : `x${webhook.failure_count} in a row`,
    ),
  )
}

export function sidePane(model: Model, { queue, spend, browser, delivery }: Facts, width: number): Line[] {
  const running = (model.topics.jobs?.rows ?? []).filter(({ status }) => status === 'active').slice(0, 4)
  const title = (pane: Screen, text: string) =>
    line(screenOfPane(model) === pane ? say(`▸${text}`, 'strong') : ` ${text}`)
  return [
    placed(width, [0, ' NEEDS A PERSON'], [width - 13, 'OLDEST'], [width - 6, 'OPEN']),
    ...needRows(model, width),
    [],
    title('jobs', 'JOBS RUNNING'),
    ...running.map((job) =>
      line(
        ` ◐ ${job.id.slice(0, 10)} ${String(job.type).padEnd(8)} ${bar(Number(job.progress) / 100, 12)} ${job.progress}%`,
      ),
    ),
    line(
      queue.oldest
        ? ` … ${queue.queued} queued, oldest ${spellAge(model.now - Date.parse(queue.oldest))}`
        : say(' … 0 queued', 'dim'),
    ),
    [],
    title('deliveries', 'DELIVERIES FAILING'),
    ...failingLines(model, delivery.ok),
    [],
    title('browser', `BROWSER ${browser.open} of ${browser.slots}`),
    ...(model.topics.browser?.rows ?? []).slice(0, 3).map(({ id, title, url, expires_at, waits }) => {
      const left = spellAge(Date.parse(String(expires_at)) - model.now)
      const page = waits ? 'needs a person' : String(title ?? url ?? '').slice(0, 24)
      const what = line(waits ? say(' ! ', 'warn') : ' ● ', `${id.slice(-6)} ${page}`)
      return between(what, line(`${left} `), Math.max(widthOf(what), width - 2))
    }),
    [],
    line(` SPEND TODAY  ${spellDollars(spend.cost_cents)}${forecast(spend, model.now)}`),
    ...(spend.cap_cents ? [line(` ${capOf(spend, 19)}`)] : []),
    line(` ${spend.owners.map(({ owner, cost_cents }) => `${owner} ${spellDollars(cost_cents)}`).join('  ')}`),
  ]
}
