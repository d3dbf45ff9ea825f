import { useState } from 'react'
import type { Earnings, Skill, SkillEntry, SkillReview, SkillVersion } from '../../../../../skills/schema'
import { Actions, deletion } from '../../shell/actions'
import { useCalls, useGet } from '../../shell/api'
import { boot } from '../../shell/boot'
import { TryPanel } from '../../shell/rule-set'
import { Chip, Code, Id, Text } from '../../ui/controls'
import { Facts, Lines, ShownPart } from '../../ui/facts'
import { field } from '../../ui/fields'
import { money, plural, Time, whole } from '../../ui/format'
import { Markdown } from '../../ui/markdown'

type Row = SkillEntry & Partial<Skill>

/** Description of each permission of a skill. */
const PERMISSIONS: Record<string, string> = {
  'read:conversations': 'read your conversations',
  'read:artifacts': 'read your files',
  'write:artifacts': 'write files',
  'write:notes': 'write notes',
  'external:http': 'call other servers',
  'execute:tools': 'run tools',
  'autonomous:run': 'run by itself',
}

const UNINSTALLED = 'Answers are made without it from the next call on. You can install it again.'
const VISIBLE = { public: 'everybody, in the market', private: 'only you' }

/** The version to submit: a draft's own, else the one after the live version. */
function nextOf({ version, reviewStatus }: Row): string {
  if (reviewStatus === 'draft') return version
  return version.replace(/\d{1,6}$/, (patch) => String(Number(patch) + 1))
}

/** Other owners' uses of the skill in 30 days, and its earnings. */
function Earned({ id }: { id: string }) {
  const { data } = useGet<Earnings>('/skills/earnings')
  const its = data?.by_skill.find(({ skillId }) => skillId === id)
  if (!its) return null
  return <p className="faint">{`In 30 days: ${plural(its.activations, 'use')}, ${money(its.earned_cents)} earned.`}</p>
}

export function SkillBody({ row: skill, close }: { row: Row; close(): void }) {
  const installed = useGet<{ skills: SkillEntry[] }>('/skills', { filter: 'installed', q: skill.slug })
  const own = installed.data?.skills.find(({ id }) => id === skill.id)
  const path = `/skills/${skill.id}`
  const isMine = skill.authorUserId === boot.user.id
  return (
    <>
      {skill.description && <p>{skill.description}</p>}
      <Actions
        touches={['/skills']}
        permission="manageSkills"
        actions={[
          !own && !skill.comingSoon && { label: 'Install', path: '/skills', body: { skillId: skill.id }, isMain: true },
          own !== undefined && {
            label: own.enabled ? 'Switch off' : 'Switch on',
            method: 'PATCH',
            path: `${path}/installation`,
            body: { enabled: !own.enabled },
          },
          own !== undefined && {
            label: 'Settings…',
            method: 'PATCH',
            path: `${path}/installation`,
            values: { intensity: 1, priority: 0, config: {} },
            fields: [
              field('intensity', 'Weight, 0 to 1', { kind: 'number', min: 0, max: 1, step: 0.1 }),
              field('priority', 'Order among skills', { kind: 'number', min: -1000, max: 1000, step: 1 }),
              field('config', 'Its settings, as JSON', { kind: 'json', help: skill.setupGuide ?? undefined }),
            ],
          },
          isMine && {
            label: 'Change…',
            method: 'PATCH',
            path,
            values: { name: skill.name, description: skill.description, system_prompt_ext: skill.systemPromptExt },
            fields: [
              field('name', 'Name', { required: true }),
              field('description', 'What it does'),
              field('system_prompt_ext', 'Instructions', { kind: 'area', rows: 10, required: true }),
            ],
          },
          isMine && {
            label: 'Submit for review…',
            path: '/skills/submit',
            ask: 'It is checked at once. What is harmless is approved by itself; the rest waits for a reviewer.',
            values: { version: nextOf(skill), author: boot.user.name ?? boot.user.email, visibility: 'public' },
            fields: [
              field('version', 'Version', { required: true, help: 'Such as 1.2.0.' }),
              field('author', 'Author, as the market shows it', { required: true }),
              field('visibility', 'Who may see it', { kind: 'choice', choices: VISIBLE }),
              field('changelog', 'What is new', { kind: 'area' }),
            ],
            body: ({ version, author, visibility, changelog }) => ({
              ...{ skill_id: skill.id, visibility },
              manifest: {
                ...{ name: skill.name, slug: skill.slug, description: skill.description ?? '' },
                ...{ category: skill.category, version, author: { name: author }, changelog },
                ...{ systemPromptExtension: skill.systemPromptExt ?? '', license: skill.license },
                ...{ tools: skill.toolDefinitions, permissions: skill.declaredPermissions, readme: skill.readme },
              },
            }),
          },
          !isMine && {
            label: 'Rate…',
            path: `${path}/reviews`,
            fields: [
              field('rating', 'Stars', { kind: 'number', min: 1, max: 5, step: 1, required: true }),
              field('body', 'Why', { kind: 'area', empty: 'null' }),
            ],
          },
          own !== undefined && deletion(`${path}/install`, UNINSTALLED, undefined, 'Uninstall…'),
          isMine && deletion(path, 'The skill and all its versions are gone. This cannot be undone.', close),
        ]}
      />
      <Facts
        of={{
          'Short name': <code>{skill.slug}</code>,
          Version: skill.version,
          Category: skill.category,
          'Who may see it': skill.visibility,
          Installed: `${whole(skill.installCount)} times`,
          May: skill.declaredPermissions.map((it) => PERMISSIONS[it] ?? it).join(', ') || 'do nothing by itself',
          Tools: skill.toolDefinitions.map((tool) => tool.name).join(', ') || 'none',
          License: skill.license,
          Id: <Id id={skill.id} />,
        }}
      />
      {isMine && <Earned id={skill.id} />}
      {skill.readme && <Markdown text={skill.readme} />}
      {skill.systemPromptExt && <Code text={skill.systemPromptExt} label="instructions" />}
      <Sandbox id={skill.id} />
      <Versions path={path} />
      <Ratings path={path} />
    </>
  )
}

type Answer = { response: string; tools_called: { name: string }[] }

/** Tries one prompt with only this skill, free of charge. */
function Sandbox({ id }: { id: string }) {
  const calls = useCalls()
  const [prompt, setPrompt] = useState('')
  return (
    <TryPanel
      title="Try it"
      verb="Try it"
      run={() => calls.json<Answer>('POST', '/skills/sandbox', { body: { skill_id: id, prompt } })}
      fields={
        <Text
          {...{ label: 'Prompt', rows: 2, required: true, value: prompt, onChange: setPrompt }}
          help="Answered with this skill alone, free of charge."
        />
      }
    >
      {({ response, tools_called }) => (
        <>
          <Markdown text={response} />
          {tools_called.length > 0 && <p className="faint">Tools: {tools_called.map(({ name }) => name).join(', ')}</p>}
        </>
      )}
    </TryPanel>
  )
}

function Versions({ path }: { path: string }) {
  const versions = useGet<{ versions: SkillVersion[] }>(`${path}/versions`)
  return (
    <ShownPart title="Versions" of={versions} rows={1}>
      {(found) => (
        <Lines
          of={found.versions}
          line={({ id, version, status, changelog, createdAt }) => ({
            key: id,
            mark: <Chip state={status === 'active' ? 'good' : 'off'}>{status}</Chip>,
            text: version,
            small: changelog,
            end: <Time at={createdAt} only="day" />,
          })}
        />
      )}
    </ShownPart>
  )
}

function Ratings({ path }: { path: string }) {
  const reviews = useGet<{ reviews: SkillReview[]; average_rating: number | null; total: number }>(`${path}/reviews`)
  return (
    <ShownPart title="Ratings" of={reviews} rows={1}>
      {({ reviews: found, average_rating, total }) => (
        <>
          {total > 0 && (
            <p>
              {average_rating?.toFixed(1)} of 5, {plural(total, 'rating')}
            </p>
          )}
          <Lines
            of={found}
            empty="Nobody has rated it."
            line={({ id, rating, body, createdAt }) => ({
              ...{ key: id, mark: <b>{rating} of 5</b>, text: body, end: <Time at={createdAt} only="day" /> },
            })}
          />
        </>
      )}
    </ShownPart>
  )
}
