import { iso } from '../../src/kernel/clock'
import type { UsageReport } from '../../src/usage/schema'
import { apiOf, column, columnsOf, commandsOf, defined, queryOf } from '../command'
import { expectData, usageFailure } from '../failure'
import { deliver, piecesOf } from '../files'
import { everyKey, keyFlag } from '../resource'
import type { Shell } from '../shell'
import { choice, duration, type FlagsGiven, optional, text, whole } from '../words'

const filters = {
  from: text('DATE', 'from this date or time; 30 days ago by default'),
  to: text('DATE', 'before this time; a date means the end of that day'),
  since: duration('24h', 'only calls at most this old'),
  key: keyFlag('calls with this key: id, prefix or name'),
  mode: text('MODE', 'calls that requested this mode, or ran in it'),
  skill: text('ID', 'calls that used this skill'),
  scope: choice(['user', 'org'], 'over --url: your own calls, or those of your active organization'),
}
const callFilters = {
  status: text('STATUS', 'this status, such as 429, or a family, such as 5xx'),
  model: text('ID', 'calls that this engine answered'),
  code: text('CODE', 'calls that ended with this error code'),
  minMs: whole('MS', 'calls that took at least this long', { min: 0, max: 86_400_000 }),
}

const totals = columnsOf`
  totals.requests REQUESTS number, totals.prompt_tokens PROMPT-TOKENS number,
  totals.completion_tokens COMPLETION-TOKENS number, totals.cost_cents COST¢ money,
  cache.hit_rate CACHE-HITS ${({ cache }) => `${((cache as Report['cache']).hit_rate * 100).toFixed(1)}%`},
  errors.4xx 4XX number, errors.5xx 5XX number, latency_ms.p50 P50-MS number, latency_ms.p95 P95-MS number,
  latency_ms.p99 P99-MS number, balance.balance_cents BALANCE¢ money, spending.daily_used_cents TODAY¢ money,
  spending.monthly_used_cents MONTH¢ money, period.from FROM time, period.to TO time`

const calls = columnsOf`
  timestamp TIME time, status STATUS number, resolved_mode MODE, model ENGINE min, api_key_name KEY min,
  prompt_tokens IN number, completion_tokens OUT number, latency_ms MS number, cost_cents COST¢ money, code CODE min,
  method METHOD wide, endpoint ENDPOINT wide, bytes_in BYTES-IN number wide, bytes_out BYTES-OUT number wide,
  has_bodies KEPT flag wide, request_id REQUEST keep min`

const parts = columnsOf`name NAME, requests REQUESTS number, cost_cents COST¢ money`
const BAR = 24
const bar = column('share', 'SHARE', { show: ({ share }) => '#'.repeat(Math.round(Number(share) * BAR)) })

const args = {
  owner: optional('org by id, slug or name; user by id or e-mail address; 6 characters of an id are enough'),
}
const command = commandsOf('usage', { apis: ['operator', 'tenant'], args })

type Part = { name: string; requests: number; cost_cents: number; id?: string }

type By = 'mode' | 'model' | 'key' | 'skill' | 'day'

async function partsOf(shell: Shell, show: Show, by: By, words: UsageWords): Promise<Part[]> {
  const report = await show(words)
  if (by === 'key') {
    const { id: owner } = report
    const ownerFilter = owner === undefined ? {} : owner.startsWith('org:') ? { org: owner } : { user: owner }
    const parts: Part[] = []
    for (const { id, name } of await everyKey((await apiOf(shell)).api, ownerFilter)) {
      const { totals } = await show({ ...words, key_id: id })
      if (totals.requests > 0) parts.push({ id, name, ...partOf(totals) })
    }
    return parts
  }
  if (by === 'day') return report.by_day.map(({ date, ...day }): Part => ({ name: date, ...partOf(day) }))
  return Object.entries(report[`by_${by}`]).map(([name, part]): Part => ({ name, ...partOf(part) }))
}

const partOf = ({ requests, cost_cents }: { requests: number; cost_cents: number }) => ({ requests, cost_cents })

/** The filters of docs/api.md 18.1. `scope` selects whose calls to count if the key in use allows both. */
type UsageWords = Partial<Record<'from' | 'to' | 'key_id' | 'mode' | 'skill', string>> & { scope?: 'user' | 'org' }
export type Report = UsageReport & { id?: string; owner?: string }
type Show = (words: UsageWords) => Promise<Report>

/** Reads reports of an owner. With --url, of the calls that the key in use may see. */
export const reporting =
  (shell: Shell, owner?: string): Show =>
  async (words) => {
    const { api, ownerFilter } = await apiOf(shell, { owner })
    return expectData(await api.usage.get({ query: { ...words, ...ownerFilter } })) as Report
  }

/** Turns the flags into the filters of the API. */
function wordsOf(shell: Shell, { key, since, ...rest }: FlagsGiven<typeof filters>): UsageWords {
  if (since !== undefined && rest.from !== undefined)
    throw usageFailure('--since and --from exclude each other. Leave one out.')
  const from = since === undefined ? rest.from : iso(shell.clock.now() - since)
  return defined({ ...rest, from, key_id: key })
}

export const usageCommands = [
  command`show OWNER (watchable): Show calls and their cost, up to now
  Without OWNER it shows the account that the first start created, or that account's active org. Over --url it shows what the key in use can see. With --by each line is one mode, model, key, skill or day, and share is its part of all requests.
  $ usage show --since 24h
  $ usage show acme --by model --from 2026-01-01
  $ usage show --by day -o csv > days.csv`({
    columns: [...totals, ...parts, bar],
    flags: { ...filters, by: choice(['mode', 'model', 'key', 'skill', 'day'], 'one line for each of these') },
    async run(shell, { owner = shell.globals.org, by, ...given }) {
      const words = wordsOf(shell, given)
      const show = reporting(shell, owner)
      if (!by) {
        const report = await show(words)
        shell.print.item(report, totals)
        if (report.scope === 'org' && report.totals.requests === 0 && report.id === undefined && !words.scope)
          shell.note('This is your active organization. For calls of your personal keys, add --scope user.')
        return
      }
      const rows = await partsOf(shell, show, by, words)
      const all = rows.reduce((sum, { requests }) => sum + requests, 0)
      const shown = rows.map((row) => ({ ...row, share: all ? Number((row.requests / all).toFixed(4)) : 0 }))
      shell.print.list(shown, shell.io.outIsTty ? [...parts, bar] : [...parts, column('share', 'SHARE')], 'No calls.')
    },
  }),
  command`requests OWNER (pages requests): List single calls of an owner, newest first
  The rows of GET /requests, without what was asked and answered. Without OWNER it lists those of the account that the first start created, or of that account's active org. Over --url it lists what the key in use can see. trace REQ_ID shows one of them in full.
  $ usage requests acme --status 5xx --since 7d
  $ usage requests --model svc-1-pro --min-ms 2000 --json`({
    columns: calls,
    flags: { ...filters, ...callFilters },
    async request({ shell, page }, { owner = shell.globals.org, status, model, code, minMs, ...given }) {
      const { api, ownerFilter } = await apiOf(shell, { owner })
      const query = { ...wordsOf(shell, given), ...ownerFilter, ...page, status, model, code, min_ms: minMs }
      return api.requests.get({ query: defined(query) })
    },
    empty: 'No matching calls.',
  }),
  command`export OWNER: Write every call as CSV or JSON lines, newest first
  Writes the rows of GET /usage/export as they are read: at most 92 days and 1,000,000 rows at a time. They are CSV; with -o jsonl each call is one line of JSON. Recorded as usage.exported.
  $ usage export --out usage.csv
  $ usage export acme --from 2026-01-01 --to 2026-01-31 -o jsonl | jq .model`({
    flags: { ...filters, out: text('FILE', 'file to write instead of stdout; readable only by you') },
    async run(shell, { owner = shell.globals.org, out, ...given }) {
      const { ownerFilter } = await apiOf(shell, { owner })
      const format = shell.globals.output === 'jsonl' || shell.globals.json ? 'jsonl' : 'csv'
      const { fetch } = await shell.connect()
      const file = await fetch(`usage/export?${queryOf({ ...wordsOf(shell, given), ...ownerFilter, format })}`)
      await deliver(shell, await piecesOf(file), out)
    },
  }),
]
