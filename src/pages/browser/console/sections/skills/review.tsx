import type { SubmissionRecord } from '../../../../../skills/schema-skill'
import { Actions, deletion } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { boot } from '../../shell/boot'
import { defineScreen } from '../../shell/screen'
import { agoColumn, chipColumn, column } from '../../ui/columns'
import { Chip, Code, Id } from '../../ui/controls'
import { Facts, Lines, Part, ShownPart } from '../../ui/facts'
import { field } from '../../ui/fields'
import { Ago, plural, spelled } from '../../ui/format'

const STATES = {
  approved: 'good',
  pending_review: 'wait',
  rejected: 'bad',
  suspended: 'bad',
  withdrawn: 'off',
} as const
const REASONS = {
  policy: 'It breaks a rule',
  quality: 'It does not do what it says',
  security: 'It is not safe',
  duplicate: 'There is a similar one',
}
const KIND = field('code', 'Kind', { kind: 'choice', choices: REASONS })
const REASON = field('reason', 'Reason, for the author', { kind: 'area', required: true })
/** Frequent remarks of reviewers. The reviewer completes each. */
const TEMPLATES = {
  Permissions: 'It asks for permissions that its description gives no reason for. Ask for fewer, or say why: ',
  'Hidden orders': 'The prompt tells the assistant to keep something from the person, or to ignore their wishes: ',
  Description: 'The description does not say what the skill does. Say for whom it is and what it gives them: ',
  'Does not work': 'In the sandbox it did not do what the description says. What was tried, and what came back: ',
  'Already there': 'The market has a skill that does the same. Say what yours does better, or add to this one: ',
}
const role = boot.operator_role
const isReviewer = role === 'reviewer' || role === 'admin'
/** Roles besides reviewers that may read the content of skills. */
const isReader = isReviewer || role === 'support'

type Diff = {
  parts: { path: string; lines: { sign: ' ' | '+' | '-'; number: number; text: string; suspicious: boolean }[] }[]
  added: number
  removed: number
  sha: string
}
type Found = SubmissionRecord & {
  name?: string
  live_version?: string | null
  installed_by?: number
  tier_reasons?: string[]
  findings?: { check: string; severity: 'warn' | 'fail'; path: string; line: number | null; message: string }[]
  claimedBy?: string | null
}

/** One submission: the results of the checks and, for reviewers, the diff and the decision. */
function SubmissionBody({ row: it, close }: { row: Found; close(): void }) {
  const path = role ? `/ops/v1/submissions/${it.id}` : `/skills/submissions/${it.id}`
  const isWaiting = it.status === 'pending_review'
  const diff = useGet<Diff>(`${path}/diff`, {}, { off: !isReader })
  const read = diff.data ? { read_diff: diff.data.sha } : {}
  const decide = (decision: string, label: string) => ({ label, path, body: { decision }, done: close })
  const approve = {
    ...decide('approve', 'Approve…'),
    body: { decision: 'approve', ...read },
    ask: it.installed_by
      ? `${plural(it.installed_by, 'owner')} get this version at once.`
      : 'Everybody who may see the skill can install it.',
  }
  const reject = { ...decide('reject', 'Reject…'), fields: [KIND, { ...REASON, rows: 5, templates: TEMPLATES }] }
  return (
    <>
      <Actions
        touches={['/ops/v1/submissions', '/skills']}
        actions={[
          isReviewer && isWaiting && !it.claimedBy && { label: 'Claim', path: `${path}/claim` },
          ...(isReviewer && isWaiting ? [approve, reject] : []),
          isReviewer && it.status === 'approved' && { ...decide('suspend', 'Suspend…'), fields: [REASON] },
          !role && isWaiting && deletion(path, 'Nobody reviews it. You can submit again.', undefined, 'Withdraw…'),
        ]}
      />
      <Facts
        of={{
          State: <Chip state={STATES[it.status]}>{it.status.replace('_', ' ')}</Chip>,
          Version:
            it.live_version && it.live_version !== it.manifestVersion
              ? `${it.manifestVersion}, instead of ${it.live_version}`
              : it.manifestVersion,
          'Who must approve': it.tier_reasons?.length
            ? `${it.reviewTier}: ${it.tier_reasons.join(' ')}`
            : it.reviewTier,
          Sent: <Ago at={it.createdAt} />,
          Reason: it.reason ?? 'none',
          Id: <Id id={it.id} />,
        }}
      />
      <Part title="Checks">
        <Lines
          of={Object.entries(it.review.checks)}
          line={([name, result]) => {
            const [outcome, ...why] = result.split(':')
            const state = result.startsWith('pass') ? 'good' : result.startsWith('warn') ? 'warn' : 'bad'
            return {
              key: name,
              mark: <Chip state={state}>{outcome}</Chip>,
              text: name.replaceAll('_', ' '),
              small: why.join(':'),
            }
          }}
        />
        {it.findings?.map(({ path: where, line, message }) => (
          <p key={where + message} className="notice warn">
            {where}
            {line !== null && `, line ${line}`}: {message}
          </p>
        ))}
      </Part>
      {isReader && (
        <ShownPart title="What changed" of={diff} rows={3}>
          {({ parts }) => (
            <>
              {parts.map(({ path: part, lines }) => (
                <div key={part} className="recorded">
                  {spelled(part)}
                  <Code
                    text={lines.map(({ sign, text }) => `${sign} ${text}`).join('\n')}
                    label={`changes of ${part}`}
                  />
                </div>
              ))}
            </>
          )}
        </ShownPart>
      )}
    </>
  )
}

/** The reader's own submissions. Reviewers see everyone's. */
export const Review = defineScreen<Found>('skills', 'Skills', {
  list: { path: role ? '/ops/v1/submissions' : '/skills/submissions', rows: 'submissions' },
  columns: [
    column('skill', 'Skill', { cell: ({ slug }) => slug, main: true }),
    column('version', 'Version', { cell: ({ manifestVersion }) => manifestVersion, main: true, width: '96px' }),
    chipColumn('state', 'State', ({ status }) => [STATES[status], status.replace('_', ' ')], { width: '156px' }),
    column('tier', 'Who approves', { cell: ({ reviewTier }) => reviewTier, width: '112px' }),
    column('checks', 'Warnings', {
      cell: ({ review }) => Object.values(review.checks).filter((it) => !it.startsWith('pass')).length,
      number: true,
    }),
    agoColumn('sent', 'Sent', ({ createdAt }) => createdAt),
  ],
  filters: [
    {
      name: 'status',
      label: 'State',
      values: Object.keys(STATES).map((status) => [status, status.replace('_', ' ')] as const),
    },
  ],
  empty: { text: role ? 'Nothing to review.' : 'You have submitted nothing.', command: 'svc-admin skills submit FILE' },
  detail: {
    // Other operators see only the data of the list.
    ...(role && !isReader
      ? {}
      : { path: (id: string) => (role ? `/ops/v1/submissions/${id}` : `/skills/submissions/${id}`) }),
    ...(role ? {} : { member: 'submission' }),
    titleOf: ({ slug, manifestVersion }) => `${slug} ${manifestVersion}`,
    body: SubmissionBody,
    wide: isReader,
  },
})
