import { counted } from '../../src/kernel/text'
import { bar, fact, fit, type Line, line, type Span, textSpan } from '../draw/line'
import { clockOf, ordinal, spellAge, spellCount, spellMoney } from '../draw/spell'
import type { Model, RowOf } from '../state/model'
import { column, dialog, its, listView, namesOf } from './list-view'

type Job = RowOf<'jobs'>

const STATES: Readonly<Record<Job['status'], Span>> = {
  queued: textSpan('… queued', 'dim'),
  active: textSpan('◐ active', 'strong'),
  completed: textSpan('✓ done', 'good'),
  failed: textSpan('✗ failed', 'bad'),
}
/** In the API a cancelled job counts as failed. This screen shows it separately, and not as a problem. */
const isCancelled = ({ error }: Job): boolean => error === 'cancelled'
const CANCELLED = textSpan('cancelled', 'dim')

const BAR = 14

const ageOf = ({ created_at, started_at, completed_at }: Job, now: number): number =>
  now - Date.parse(completed_at ?? started_at ?? created_at)

function progressOf(job: Job): string {
  if (job.status === 'queued') return job.place ? `${ordinal(job.place)} in line` : 'waits'
  if (job.status === 'active') return `${bar(job.progress / 100, BAR)}  ${Math.round(job.progress)}%`
  if (job.status === 'failed') return job.error ?? 'failed'
  const took = Date.parse(job.completed_at ?? '') - Date.parse(job.started_at ?? job.created_at)
  return Number.isNaN(took) ? 'done' : `done in ${spellAge(took)}`
}

const owner = (job: Job): string => job.key ?? job.owner ?? '–'

export const jobs = listView<Job>({
  margin: 4,
  order: 'sort created ▼',
  columns: [
    column('STATUS', 10, (job) => job.status, { cell: (job) => (isCancelled(job) ? CANCELLED : STATES[job.status]) }),
    column('ID', 13, ({ id }) => id, { cell: ({ id }) => textSpan(id.slice(0, 12)) }),
    column('TYPE', 10, ({ type }) => type),
    column('PROGRESS', 25, ({ progress }) => progress, {
      grows: true,
      cell: (job) => textSpan(progressOf(job), job.status === 'failed' && !isCancelled(job) ? 'bad' : undefined),
    }),
    column('AGE', 8, ({ created_at }) => created_at, { cell: (job, { now }) => textSpan(spellAge(ageOf(job, now))) }),
    column('KEY', 10, owner),
  ],
  fields: {
    ...its<Job>('id', 'status', 'type', 'progress', 'error'),
    key: owner,
    owner: (job) => job.owner,
    prompt: ({ text }) => text,
    age: (job) => ageOf(job, Date.now()),
  },
  total: ({ topics }) => Number((topics.overview?.facts.queue as { total?: number } | undefined)?.total ?? 0),
  title: ({ id }) => id,
  drawerRows: 8,
  drawer: (job, model: Model, width) => [
    line(
      fit(` ${job.type}${job.asked ? `, ${job.asked}` : ''}`, Math.max(20, width - 35)),
      ' ',
      `key ${owner(job)}`.padEnd(18),
      job.request_id?.slice(0, 14) ?? '',
    ),
    fact('prompt', `"${job.text.replaceAll(/\s+/g, ' ').slice(0, width - 30)}" ${spellCount(job.chars)} chars`),
    fact('step', ...stepsOf(job, model, width)),
    fact('cost', costOf(job, model).padEnd(34), `attempt ${Math.max(1, job.attempts)}`),
    fact(
      'times',
      `created ${timeOf(job.created_at)}   begun ${timeOf(job.started_at)}   ended ${timeOf(job.completed_at)}`,
    ),
    ...notifiedLine(job, model),
    ...(job.error ? [fact('error', textSpan(job.error, 'bad'))] : []),
    ...(model.canWrite ? [] : [line(textSpan(' read-only: c and R are disabled (type :write)', 'dim'))]),
  ],
  empty: ['No jobs yet. Research and video requests appear here.', 'Try: svc-admin try --mode research "…"'],
  hints: '⏎ detail  c cancel  R retry  t trace  y copy id  s sort  space mark  ? help',
  actions: {
    'jobs.cancel': (rows) => {
      const open = rows.filter(({ status }) => status === 'queued' || status === 'active')
      if (!open.length) return 'It has already ended.'
      const names = open.map(({ id }) => id)
      return dialog(
        `Cancel ${namesOf(names, 'jobs')}?`,
        ['It stops, and its reserved credit is released.', 'This cannot be undone.'],
        [['jobs', 'cancel', ...names, '--yes']],
        'Cancel job',
      )
    },
    'jobs.retry': (rows) => {
      const failed = rows.filter(({ status }) => status === 'failed')
      if (!failed.length) return 'Only failed jobs can be retried.'
      const names = failed.map(({ id }) => id)
      return dialog(
        `Retry ${namesOf(names, 'jobs')}?`,
        ['The work is queued again as a new job.', 'Its owner pays again.'],
        [['jobs', 'retry', ...names, '--yes']],
        'Retry',
      )
    },
  },
  reads: logPath,
  requestOf: ({ request_id }) => request_id,
})

type Log = {
  cost_cents: number | null
  webhooks: number
  steps: readonly { at: string; what: string; attempt: number; detail: string | null }[]
}

function logPath({ id }: Pick<Job, 'id'>): string {
  return `jobs/${id}/log`
}

const logOf = (job: Job, { details }: Model): Log | null => (details[logPath(job)]?.value as Log | undefined) ?? null

/** The stages of the last attempt, each with its duration: `✓ searching 9s  ◐ reading 51s`. */
function stepsOf(job: Job, model: Model, width: number): Span[] {
  const steps = logOf(job, model)?.steps ?? []
  const stages = steps.filter(({ what, attempt }) => what === 'stage' && attempt === job.attempts)
  if (!stages.length) return [textSpan(job.stage ?? (job.status === 'queued' ? 'not begun' : '–'))]
  const isActive = job.status === 'active'
  const end = job.completed_at === null ? model.now : Date.parse(job.completed_at)
  const shown = stages.map(({ at, detail }, place) => {
    const next = stages[place + 1]
    const took = spellAge((next ? Date.parse(next.at) : end) - Date.parse(at))
    if (next || job.status === 'completed') return textSpan(`✓ ${detail} ${took}  `)
    return isActive ? textSpan(`◐ ${detail} ${took}`, 'strong') : textSpan(`✗ ${detail} ${took}`, 'bad')
  })
  const max = Math.max(1, Math.floor((width - 12) / 18))
  return shown.length > max ? [textSpan(`${shown.length} steps … `, 'dim'), ...shown.slice(1 - max)] : shown
}

function costOf(job: Job, model: Model): string {
  const reserve = `reserve ${spellMoney(job.hold_micro === null ? null : job.hold_micro / 1_000_000)}`
  const cost = logOf(job, model)?.cost_cents ?? null
  return cost === null ? reserve : `${spellMoney(cost)} charged, ${reserve}`
}

function notifiedLine(job: Job, model: Model): Line[] {
  const count = logOf(job, model)?.webhooks ?? 0
  if (job.completed_at !== null || !count) return []
  return [fact('on done', `${counted(count, 'webhook')} will get job.completed`)]
}

const timeOf = (iso: string | null): string => (iso ? clockOf(Date.parse(iso)) : '–')
