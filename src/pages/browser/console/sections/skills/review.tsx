import type { SubmissionRecord } from '../../../../../skills/schema-review'
import { Actions } from '../../shell/actions'
import { useGet } from '../../shell/api'
import { boot } from '../../shell/boot'
import { defineScreen } from '../../shell/screen'
import { Chip, Code, Id } from '../../ui/controls'
import { Facts } from '../../ui/facts'
import { Ago, plural } from '../../ui/format'
import { Shown } from '../../ui/states'

const STATES = {
  approved: 'good',
  pending_review: 'wait',
  rejected: 'bad',
  suspended: 'bad',
  withdrawn: 'off',
} as const
const REASONS = [
  ['policy', 'It breaks a rule'],
  ['quality', 'It does not do what it says'],
  ['security', 'It is not safe'],
  ['duplicate', 'There is a similar one'],
] as const
/** Frequent remarks of reviewers. The reviewer completes each. */
const TEMPLATES = [
  ['Permissions', 'It asks for permissions that its description gives no reason for. Ask for fewer, or say why: '],
  ['Hidden orders', 'The prompt tells the assistant to keep something from the person, or to ignore their wishes: '],
  ['Description', 'The description does not say what the skill does. Say for whom it is and what it gives them: '],
  ['Does not work', 'In the sandbox it did not do what the description says. What was tried, and what came back: '],
  ['Already there', 'The market has a skill that does the same. Say what yours does better, or add to this one: '],
] as const
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
  const decision = path
  const read = diff.data ? { read_diff: diff.data.sha } : {}
  const reason = { name: 'reason', label: 'Reason, for the author', kind: 'area', required: true } as const
  return (
    <>
      <Actions
        touches={['/ops/v1/submissions', '/skills']}
        actions={[
          isReviewer && isWaiting && !it.claimedBy && { label: 'Claim', path: `${path}/claim` },
          isReviewer &&
            isWaiting && {
              label: 'Approve…',
              path: decision,
              body: { decision: 'approve', ...read },
              ask: it.installed_by
                ? `${plural(it.installed_by, 'owner')} get this version at once.`
                : 'Everybody who may see the skill can install it.',
              done: close,
            },
          isReviewer &&
            isWaiting && {
              label: 'Reject…',
              path: decision,
              body: { decision: 'reject' },
              fields: [
                { name: 'code', label: 'Kind', kind: 'choice', choices: REASONS },
                { ...reason, rows: 5, templates: TEMPLATES },
              ],
              done: close,
            },
          isReviewer &&
            it.status === 'approved' && {
              label: 'Suspend…',
              path: decision,
              body: { decision: 'suspend' },
              fields: [reason],
              done: close,
            },
          !role &&
            isWaiting && {
              label: 'Withdraw…',
              method: 'DELETE',
              path,
              danger: true,
              ask: 'Nobody reviews it. You can submit again.',
            },
        ]}
      />
      <Facts
        facts={[
          [
            'State',
            <Chip key="state" state={STATES[it.status]}>
              {it.status.replace('_', ' ')}
            </Chip>,
          ],
          ['Version', it.live_version ? `${it.manifestVersion}, instead of ${it.live_version}` : it.manifestVersion],
          [
            'Who must approve',
            it.tier_reasons?.length ? `${it.reviewTier}: ${it.tier_reasons.join(' ')}` : it.reviewTier,
          ],
          ['Sent', <Ago key="sent" at={it.createdAt} />],
          ['Reason', it.reason ?? 'none'],
          ['Id', <Id key="id" id={it.id} />],
        ]}
      />
      <section aria-labelledby="checks">
        <h3 id="checks">Checks</h3>
        <ul className="plain-list">
          {Object.entries(it.review.checks).map(([name, result]) => (
            <li key={name}>
              <Chip state={result.startsWith('pass') ? 'good' : result.startsWith('warn') ? 'warn' : 'bad'}>
                {result.split(':')[0]}
              </Chip>
              <span>
                {name.replaceAll('_', ' ')}
                <small>{result.includes(':') ? result.slice(result.indexOf(':') + 1) : ''}</small>
              </span>
              <span />
            </li>
          ))}
        </ul>
        {it.findings?.map(({ path: where, line, message }) => (
          <p key={where + message} className="notice warn">
            {where}
            {line !== null && `, line ${line}`}: {message}
          </p>
        ))}
      </section>
      {isReader && (
        <section aria-labelledby="diff">
          <h3 id="diff">What changed</h3>
          <Shown of={diff} rows={3}>
            {({ parts }) => (
              <>
                {parts.map(({ path: part, lines }) => (
                  <Code
                    key={part}
                    text={lines.map(({ sign, text }) => `${sign} ${text}`).join('\n')}
                    label={`changes of ${part}`}
                  />
                ))}
              </>
            )}
          </Shown>
        </section>
      )}
    </>
  )
}

/** The reader's own submissions. Reviewers see everyone's. */
export const Review = defineScreen<Found>({
  section: 'skills',
  title: 'Skills',
  list: {
    path: role ? '/ops/v1/submissions' : '/skills/submissions',
    rows: 'submissions',
  },
  idOf: ({ id }) => id,
  columns: [
    { key: 'skill', head: 'Skill', cell: ({ slug }) => slug, main: true },
    { key: 'version', head: 'Version', cell: ({ manifestVersion }) => manifestVersion, main: true, width: '96px' },
    {
      key: 'state',
      head: 'State',
      cell: ({ status }) => <Chip state={STATES[status]}>{status.replace('_', ' ')}</Chip>,
      main: true,
      width: '156px',
    },
    { key: 'tier', head: 'Who approves', cell: ({ reviewTier }) => reviewTier, width: '112px' },
    {
      key: 'checks',
      head: 'Warnings',
      cell: ({ review }) => Object.values(review.checks).filter((it) => !it.startsWith('pass')).length,
      number: true,
    },
    {
      key: 'sent',
      head: 'Sent',
      cell: ({ createdAt }) => <Ago at={createdAt} />,
      number: true,
      main: true,
      width: '128px',
    },
  ],
  filters: [
    {
      name: 'status',
      label: 'State',
      values: Object.keys(STATES).map((status) => [status, status.replace('_', ' ')] as const),
    },
  ],
  empty: {
    text: role ? 'Nothing to review.' : 'You have submitted nothing.',
    command: 'svc-admin skills submit FILE',
  },
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
