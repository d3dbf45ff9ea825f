import type { Static } from '../../src/kernel/schema'
import type { OperatorDiff, OperatorSubmission } from '../../src/skills/schema'
import { between, fact, fit, fitLine, type Line, line, placed, type Span, textSpan, wrapped } from '../draw/line'
import { spellAge, spellShare } from '../draw/spell'
import { type Model, type RowOf, rowsOf } from '../state/model'
import { column, dialog, its, listView, REASON } from './list-view'

export type Part = 'checks' | 'diff' | 'manifest' | 'tools' | 'permissions'

type ReviewSubmission = OperatorSubmission & {
  manifest: { tools?: { name: string; description?: string }[]; permissions?: string[] }
}
type Diff = Static<typeof OperatorDiff>

export const submissionPath = (id: string): string => `submissions/${id}`

export const diffPath = (id: string): string => `submissions/${id}/diff`

const detailOf = <T>({ details }: Model, name: string): T | null => (details[name]?.value as T) ?? null

const diffOf = (model: Model, id: string): Diff | null => detailOf<Diff>(model, diffPath(id))

/** Tier security can be approved only after opening the diff and the tools (docs/operating.md 3.5). */
export const isLocked = ({ review }: Model, tier: string): boolean =>
  tier === 'security' && !(review?.opened.includes('diff') && review.opened.includes('tools'))

type DiffLine = Diff['parts'][number]['lines'][number]

type Submission = RowOf<'submissions'>

function stateOf({ status }: Submission): Span {
  if (status === 'pending_review') return textSpan('! pending', 'warn')
  if (status === 'approved') return textSpan('✓ approved', 'good')
  return status === 'rejected' ? textSpan('✗ rejected', 'bad') : textSpan(`– ${status}`, 'dim')
}

const found = ({ review }: Submission): string => {
  const open = Object.entries(review.checks).filter(([, result]) => result !== 'pass')
  return open.length ? `${open.length} to read: ${open.map(([name]) => name).join(', ')}` : 'all checks passed'
}

export const submissions = listView<Submission>({
  margin: 4,
  order: 'waiting first',
  above: (model) => {
    const rows = rowsOf(model, 'submissions')
    const [last] = rows.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt))
    if (!last || rows.some(({ status }) => status === 'pending_review')) return []
    const age = spellAge(model.now - Date.parse(last.updatedAt))
    return [line(` Nothing to review. Last decision ${age} ago: ${last.slug} ${last.status}.`)]
  },
  columns: [
    column('STATUS', 13, ({ status }) => status, { cell: stateOf }),
    column('SKILL', 18, ({ slug }) => slug),
    column('VERSION', 9, ({ manifestVersion }) => manifestVersion),
    column('TIER', 10, ({ reviewTier }) => reviewTier, {
      cell: ({ reviewTier }) => textSpan(reviewTier, reviewTier === 'security' ? 'warn' : undefined),
    }),
    column('AGE', 8, ({ createdAt }) => createdAt, {
      cell: ({ createdAt }, { now }) => spellAge(now - Date.parse(createdAt)),
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
    fact('id', one.id),
    fact('checks', found(one)),
    fact('shown to', one.visibility),
    fact('reason', one.reason ?? '–'),
    line(textSpan(' ⏎ opens the review with checks, diff and tools', 'dim')),
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

/** One submission: its head, the tabs of its parts, and the open part. */
export function reviewBody(model: Model, width: number, height: number): Line[] {
  const { id, part, top } = model.review!
  const found = detailOf<ReviewSubmission>(model, submissionPath(id))
  const problem = model.details[submissionPath(id)]?.problem
  if (!found) return [line(problem ? textSpan(` ! ${problem}`, 'warn') : ' · · ·')]
  const body = bodyOf(model, found, part as Part, width)
  const room = height - 3
  const from = Math.min(top, Math.max(0, body.length - room))
  const shown = body.slice(from, from + room)
  // Like a pager, shows how much of the text lies above the end of the window.
  const isLong = body.length > room
  if (isLong) shown[room - 1] = between(shown[room - 1]!, line(` ${spellShare((from + room) / body.length)} `), width)
  return [
    head(model, found, width),
    tabs(model, found, part, width),
    line(textSpan('─'.repeat(width), 'dim')),
    ...shown,
  ]
}

function head(model: Model, found: ReviewSubmission, width: number): Line {
  const live = found.live_version ? `live now: ${found.live_version}` : 'new skill'
  const needsPerson =
    found.reviewTier === 'auto' ? textSpan(found.reviewTier) : textSpan(`! ${found.reviewTier}`, 'warn')
  const author = rowsOf(model, 'submissions').find(({ id }) => id === found.id)?.author ?? ''
  return placed(
    width,
    [0, ` ${found.slug} ${found.manifestVersion}  (${live})`],
    [width - 36, found.status === 'pending_review' ? String(author) : found.status],
    [width - 25, needsPerson],
    [width - 11, `${spellAge(model.now - Date.parse(found.createdAt))} old`],
  )
}

function tabs(model: Model, found: ReviewSubmission, part: string, width: number): Line {
  const checks = Object.values(found.review.checks)
  const passed = checks.filter((check) => check === 'pass').length
  const diff = diffOf(model, found.id)
  const names: [Part, string][] = [
    ['checks', `c Checks ${passed}✓ ${checks.length - passed}!`],
    ['diff', `d Diff${diff ? ` +${diff.added} -${diff.removed}` : ''}`],
    ['manifest', 'm Manifest'],
    ['tools', `t Tools ${found.manifest.tools?.length ?? 0}`],
    ['permissions', 'P Permissions'],
  ]
  const shown = [...names.map(([name, title]) => (name === part ? `[${title}]` : ` ${title} `)), ' h Log'].join(
    width < 100 ? '' : ' ',
  )
  return placed(width, [0, ` ${shown}`])
}

function bodyOf(model: Model, found: ReviewSubmission, part: Part, width: number): Line[] {
  switch (part) {
    case 'checks':
      return checksOf(model, found, width)
    case 'diff':
      return diffLines(model, found.id, width)
    case 'manifest':
      return JSON.stringify(found.manifest, null, 2)
        .split('\n')
        .flatMap((text) => wrapped(text, width - 2, 20).map((row) => line(` ${row}`)))
    case 'tools':
      return (found.manifest.tools ?? []).length
        ? found.manifest.tools!.flatMap((tool) => [
            line(textSpan(` ${tool.name}`, 'strong')),
            ...JSON.stringify(tool, null, 2)
              .split('\n')
              .flatMap((text) => wrapped(text, width - 4, 20).map((row) => line(`   ${row}`))),
            [],
          ])
        : [line(' It has no tools.')]
    case 'permissions':
      return (found.manifest.permissions ?? []).length
        ? found.manifest.permissions!.map((name) =>
            line(
              name.startsWith('external') || name.startsWith('write') ? textSpan(` ! ${name}`, 'warn') : `   ${name}`,
            ),
          )
        : [line(' It needs no permissions.')]
  }
}

function checksOf(model: Model, found: ReviewSubmission, width: number): Line[] {
  const box = (part: string) => (model.review!.opened.includes(part) ? '[x]' : '[ ]')
  const rows = Object.entries(found.review.checks).flatMap(([name, result]) => {
    const sign =
      result === 'pass'
        ? textSpan(' ✓ ', 'good')
        : textSpan(result.startsWith('fail') ? ' ✗ ' : ' ! ', result.startsWith('fail') ? 'bad' : 'warn')
    const own = found.findings.filter(({ check }) => check === name)
    const says = result === 'pass' ? 'passed' : result.replace(/^(warn|fail): /, '')
    return [
      line(sign, name.padEnd(17), says.slice(0, width - 22)),
      ...own
        .slice(0, 3)
        .map(({ message, line: at, path }) =>
          line(textSpan(`      ${path}${at === null ? '' : ` line ${at}`}: ${message}`, 'dim')),
        ),
    ]
  })
  const why = found.tier_reasons.length
    ? [
        [],
        line(textSpan(' WHY A PERSON MUST REVIEW IT', 'strong')),
        ...found.tier_reasons.flatMap((text) => wrapped(text, width - 2, 3).map((row) => line(` ${row}`))),
      ]
    : []
  const before =
    found.reviewTier === 'security'
      ? [
          [],
          line(
            textSpan(' BEFORE YOU CAN APPROVE', 'strong'),
            `    ${box('diff')} open Diff    ${box('tools')} open Tools`,
          ),
        ]
      : []
  const installed = found.installed_by
    ? [
        line(
          textSpan(' INSTALLED BY', 'strong'),
          `              ${found.installed_by} owners  → they get ${found.manifestVersion} on approval`,
        ),
      ]
    : []
  return [...rows, ...why, ...before, ...installed]
}

function diffLines(model: Model, id: string, width: number): Line[] {
  const diff = diffOf(model, id)
  if (!diff) return [line(' · · ·')]
  if (!diff.parts.length) return [line(' Nothing changed.')]
  if (model.review!.split) return splitLines(diff, width)
  return diff.parts.flatMap(({ path, lines }, at) => [
    placed(width, [0, textSpan(` ${path}`, 'strong')], [63, `hunk ${at + 1} of ${diff.parts.length}`]),
    ...lines.flatMap(({ sign, number, text, suspicious }) =>
      (model.wrap ? wrapped(text, width - 10, 20) : [fit(text, width - 10)]).map((row, place) =>
        line(
          place ? '      ' : String(number).padStart(5).padEnd(6),
          textSpan(
            place ? '   ' : `${sign}${suspicious ? '!' : ' '} `,
            sign === '+' ? 'good' : sign === '-' ? 'bad' : undefined,
          ),
          textSpan(row, suspicious ? 'warn' : sign === ' ' ? 'dim' : undefined),
        ),
      ),
    ),
    [],
  ])
}

/** Two columns: the old text left, the new text right. Unchanged lines appear in both. */
function splitLines(diff: Diff, width: number): Line[] {
  const half = Math.floor((width - 1) / 2)
  const side = (one: DiffLine | undefined): Line => {
    if (!one) return []
    const tone = one.suspicious ? 'warn' : one.sign === '+' ? 'good' : one.sign === '-' ? 'bad' : 'dim'
    return line(
      `${String(one.number).padStart(4)} `,
      textSpan(`${one.sign}${one.suspicious ? '!' : ' '} ${one.text}`, tone),
    )
  }
  return diff.parts.flatMap(({ path, lines }, at) => [
    placed(width, [0, textSpan(` ${path}`, 'strong')], [63, `hunk ${at + 1} of ${diff.parts.length}`]),
    ...paired(lines).map(([left, right]) => [...fitLine(side(left), half), textSpan('│', 'dim'), ...side(right)]),
    [],
  ])
}

function paired(lines: readonly DiffLine[]): [DiffLine | undefined, DiffLine | undefined][] {
  const pairs: [DiffLine | undefined, DiffLine | undefined][] = []
  let [removed, added]: [DiffLine[], DiffLine[]] = [[], []]
  const settle = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) pairs.push([removed[at], added[at]])
    ;[removed, added] = [[], []]
  }
  for (const one of lines) {
    if (one.sign === '-') removed.push(one)
    else if (one.sign === '+') added.push(one)
    else {
      settle()
      pairs.push([one, one])
    }
  }
  settle()
  return pairs
}

/** The first row of each hunk, for jumping. */
export function hunksOf(model: Model, width: number): number[] {
  const rows = diffLines(model, model.review!.id, width)
  return rows.flatMap((row, at) => (row.some(({ text }) => /^hunk \d+ of/.test(text)) ? [at] : []))
}
