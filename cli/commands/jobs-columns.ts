import type { Job } from '../../src/charging/public-jobs-schema'
import { apiOf } from '../api'
import { expectData } from '../failure'
import { column, idColumn } from '../output/columns'
import type { Shell } from '../shell'

const BAR_CHARS = 12

/** `[######------] 50%` */
export function progressBar(percent: number): string {
  const done = Math.floor((percent * BAR_CHARS) / 100)
  return `[${'#'.repeat(done)}${'-'.repeat(BAR_CHARS - done)}] ${percent}%`
}

export const jobColumns = [
  { ...idColumn, show: ({ id }: { id?: unknown }, whole: boolean) => String(id).slice(0, whole ? 28 : 12) },
  column('type', 'TYPE'),
  column('status', 'STATUS'),
  column('progress', 'PROGRESS', { show: ({ progress }) => progressBar(Number(progress)) }),
  column('stage', 'STEP'),
  column('attempts', 'TRIES', { kind: 'number', min: true }),
  column('usage.cost_cents', 'COST¢', { kind: 'money' }),
  column('error', 'ERROR'),
  column('created_at', 'QUEUED', { kind: 'time' }),
  column('started_at', 'BEGUN', { kind: 'time', wide: true }),
  column('completed_at', 'ENDED', { kind: 'time', wide: true }),
  column('result', 'RESULT', { wide: true }),
]

export const ID = 'id of the job, from the 202 answer'
export const IDS = 'ids of the jobs'

export const hasEnded = ({ status }: Job): boolean => status === 'completed' || status === 'failed'

/** One job over either API. */
export async function jobOver(shell: Shell, id: string) {
  const { api } = await apiOf(shell)
  const one = api.jobs({ id: encodeURIComponent(id) })
  const done = async (reply: Promise<Parameters<typeof expectData<{ job: Job }>>[0]>) => expectData(await reply).job
  return { get: () => done(one.get()), cancel: () => done(one.cancel.post()), retry: () => done(one.retry.post()) }
}
