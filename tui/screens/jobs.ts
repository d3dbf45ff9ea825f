import { bar } from '../draw/charts'
import { fit, line, type Span, say } from '../draw/line'
import { clockOf, spellAge, spellCount, spellMoney } from '../draw/spell'
import type { Model, Row } from '../state/model'
import { dialog, listView, namesOf } from './list-view'

type Job = Row & {
  type: string
  status: 'queued' | 'active' | 'completed' | 'failed'
  owner: string | null
  key: string | null
  progress: number
  stage: string | null
  attempts: number
  error: string | null
  place: number | null
  request_id: string | null
  text: string
  chars: number
  asked: string
  hold_micro: number | null
  created_at: string
  started_at: string | null
  completed_at: string | null
}

const STATES: Readonly<Record<Job['status'], Span>> = {
  queued: say('… queued', 'dim'),
  active: say('◐ active', 'strong'),
  completed: say('✓ done', 'good'),
  failed: say('✗ failed', 'bad'),
}
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

const ordinal = (place: number): string => {
  const ends = ['th', 'st', 'nd', 'rd']
  const tens = place % 100
  return `${place}${ends[(tens - 20) % 10] ?? ends[tens] ?? ends[0]}`
}

const owner = (job: Job): string => job.key ?? job.owner ?? '–'

export const jobs = listView<Job>({
  margin: 4,
  order: 'sort created ▼',
  columns: [
    { header: 'STATUS', width: 10, cell: (job) => STATES[job.status], value: (job) => job.status },
    { header: 'ID', width: 13, cell: ({ id }) => say(id.slice(0, 12)), value: ({ id }) => id },
    { header: 'TYPE', width: 10, cell: ({ type }) => say(type), value: ({ type }) => type },
    {
      header: 'PROGRESS',
      width: 25,
      grows: true,
      cell: (job) => say(progressOf(job), job.status === 'failed' ? 'bad' : undefined),
      value: ({ progress }) => progress,
    },
    {
      header: 'AGE',
      width: 8,
      cell: (job, { now }) => say(spellAge(ageOf(job, now))),
      value: ({ created_at }) => created_at,
    },
    { header: 'KEY', width: 10, cell: (job) => say(owner(job)), value: owner },
  ],
  fields: {
    id: ({ id }) => id,
    status: ({ status }) => status,
    type: ({ type }) => type,
    progress: ({ progress }) => progress,
    key: owner,
    owner: (job) => job.owner,
    error: ({ error }) => error,
    prompt: ({ text }) => text,
    age: (job) => ageOf(job, Date.now()),
  },
  total: ({ topics }) => Number((topics.overview?.facts.queue as { total?: number } | undefined)?.total ?? 0),
  title: ({ id }) => id,
  drawerRows: 8,
  drawer: (job, model: Model, width) => [
    line(
      fit(` ${job.type}${job.asked ? `, ${job.asked}` : ''}`, Math.max(20, width - 34)),
      `key ${owner(job)}`.padEnd(18),
      job.request_id?.slice(0, 14) ?? '',
    ),
    line(
      say(' prompt   ', 'dim'),
      `"${job.text.replaceAll(/\s+/g, ' ').slice(0, width - 30)}" ${spellCount(job.chars)} chars`,
    ),
    line(say(' step     ', 'dim'), job.stage ?? (job.status === 'queued' ? 'not begun' : '–')),
    line(
      say(' cost     ', 'dim'),
      `reserve ${spellMoney(job.hold_micro === null ? null : job.hold_micro / 1_000_000)}`.padEnd(34),
      `attempt ${Math.max(1, job.attempts)}`,
    ),
    line(
      say(' times    ', 'dim'),
      `created ${timeOf(job.created_at)}   begun ${timeOf(job.started_at)}   ended ${timeOf(job.completed_at)}`,
    ),
    ...(job.error ? [line(say(' error    ', 'dim'), say(job.error, 'bad'))] : []),
    ...(model.canWrite ? [] : [line(say(' read-only: c and R are off (:write turns them on)', 'dim'))]),
  ],
  empty: ['No jobs yet. Research and video requests show up here.', 'Try: svc-admin try --mode research "…"'],
  hints: '⏎ detail  c cancel  R retry  t trace  y copy id  s sort  space mark  ? help',
  actions: {
    'jobs.cancel': (rows) => {
      const open = rows.filter(({ status }) => status === 'queued' || status === 'active')
      if (!open.length) return 'It has ended: there is nothing to cancel.'
      const names = open.map(({ id }) => id)
      return dialog(
        `Cancel ${namesOf(names, 'jobs')}?`,
        ['It stops, and what was held for it is released.', 'This cannot be undone.'],
        [['jobs', 'cancel', ...names, '--yes']],
        'Cancel job',
      )
    },
    'jobs.retry': (rows) => {
      const failed = rows.filter(({ status }) => status === 'failed')
      if (!failed.length) return 'Only jobs that failed can be tried again.'
      const names = failed.map(({ id }) => id)
      return dialog(
        `Retry ${namesOf(names, 'jobs')}?`,
        ['The work is put in line again as a new job.', 'Its owner pays as for the first.'],
        [['jobs', 'retry', ...names, '--yes']],
        'Retry',
      )
    },
  },
  requestOf: ({ request_id }) => request_id,
})

const timeOf = (iso: string | null): string => (iso ? clockOf(Date.parse(iso)) : '–')
