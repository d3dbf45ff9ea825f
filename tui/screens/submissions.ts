import { line, type Span, say } from '../draw/line'
import { spellAge } from '../draw/spell'
import type { Row } from '../state/model'
import { column, dialog, its, listView, REASON } from './list-view'
import { diffOf, isLocked } from './review'

type Submission = Row & {
  slug: string
  manifestVersion: string
  status: string
  reviewTier: string
  visibility: string
  reason: string | null
  createdAt: string
  updatedAt: string
  review: { passed: boolean; checks: Record<string, string> }
  claimedBy: string | null
  author: string | null
}

function stateOf({ status }: Submission): Span {
  if (status === 'pending_review') return say('! pending', 'warn')
  if (status === 'approved') return say('✓ approved', 'good')
  return status === 'rejected' ? say('✗ rejected', 'bad') : say(`– ${status}`, 'dim')
}

const found = ({ review }: Submission): string => {
  const open = Object.entries(review.checks).filter(([, result]) => result !== 'pass')
  return open.length ? `${open.length} to read: ${open.map(([name]) => name).join(', ')}` : 'all checks passed'
}

export const submissions = listView<Submission>({
  margin: 4,
  order: 'waiting first',
  above: ({ topics, now }) => {
    const rows = (topics.submissions?.rows ?? []) as unknown as readonly Submission[]
    const [last] = rows.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt))
    if (!last || rows.some(({ status }) => status === 'pending_review')) return []
    const age = spellAge(now - Date.parse(last.updatedAt))
    return [line(` Nothing to review. Last decision ${age} ago: ${last.slug} ${last.status}.`)]
  },
  columns: [
    column('STATUS', 13, ({ status }) => status, { cell: stateOf }),
    column('SKILL', 18, ({ slug }) => slug),
    column('VERSION', 9, ({ manifestVersion }) => manifestVersion),
    column('TIER', 10, ({ reviewTier }) => reviewTier, {
      cell: ({ reviewTier }) => say(reviewTier, reviewTier === 'security' ? 'warn' : undefined),
    }),
    column('AGE', 8, ({ createdAt }) => createdAt, {
      cell: ({ createdAt }, { now }) => say(spellAge(now - Date.parse(createdAt))),
    }),
    column('AUTHOR', 10, ({ author }) => author),
    column('CLAIMED', 8, ({ claimedBy }) => claimedBy, { grows: true }),
  ],
  fields: {
    ...its<Submission>('status', 'author', 'id'),
    skill: ({ slug }) => slug,
    tier: ({ reviewTier }) => reviewTier,
    claimed: ({ claimedBy }) => claimedBy,
  },
  title: ({ slug, manifestVersion }) => `${slug} ${manifestVersion}`,
  drawerRows: 6,
  drawer: (one) => [
    line(say(' id       ', 'dim'), one.id),
    line(say(' checks   ', 'dim'), found(one)),
    line(say(' shown to ', 'dim'), one.visibility),
    line(say(' reason   ', 'dim'), one.reason ?? '–'),
    line(say(' ⏎ opens the review with checks, diff and tools', 'dim')),
  ],
  empty: ['Nothing to review.'],
  hints: '⏎ review  A approve  X reject  y copy id  s sort  / filter  ? help',
  actions: {
    'submissions.approve': ([one], model) => {
      if (one?.status !== 'pending_review') return 'It is already decided.'
      if (isLocked(model, one.reviewTier)) return 'Tier security: open Diff and Tools first (⏎, then d and t).'
      const sha = diffOf(model, one.id)?.sha
      const read = one.reviewTier === 'security' && sha ? ['--i-read-the-diff', sha] : []
      return dialog(
        `Approve ${one.slug} ${one.manifestVersion}?`,
        ['Everyone who installed the skill gets this version.', 'Undo: svc-admin submissions suspend'],
        [['submissions', 'approve', one.id, ...read]],
        'Approve',
        { ...REASON },
      )
    },
    'submissions.reject': ([one]) =>
      one?.status !== 'pending_review'
        ? 'It is already decided.'
        : dialog(
            `Reject ${one.slug} ${one.manifestVersion}?`,
            ['The author sees the reason.'],
            [['submissions', 'reject', one.id, '--code', 'quality']],
            'Reject',
            { ...REASON },
          ),
  },
})
