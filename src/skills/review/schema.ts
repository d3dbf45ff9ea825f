import { findEngine } from '../../engines'
import { messageOf } from '../../kernel/errors'
import { isLicense } from '../../kernel/license'
import { checker } from '../../kernel/schema'
import { beginningOf, charactersIn } from '../../kernel/text'
import { validationError } from '../../kernel/validation'
import { newAllowance, problemsOf, problemsOfResult } from '../../tools'
import { MANIFEST_LIMITS, Manifest, pruneManifest, type SkillManifest, withDefaults } from '../manifest'
import { type Finding, fail, warn } from './checks'

const shape = checker(Manifest)

type Read = {
  manifest: SkillManifest | null
  findings: Finding[]
  /** Paths of dropped members, which no manifest has and which `manifest` does not contain. */
  dropped: string[]
}

/** Parses a manifest: the manifest with defaults, or null and findings, one sentence per member (docs/api.md 8.1). */
export function readManifest(written: Readonly<Record<string, unknown>>): Read {
  const { members: known, dropped } = pruneManifest(written)
  if (!shape.is(known)) return { manifest: null, findings: problemsOfShape(known), dropped }
  const manifest = withDefaults(known)
  const findings = [
    ...problemsOfTools(manifest),
    ...(manifest.configSchema
      ? problemsOf(manifest.configSchema, 'configSchema', newAllowance()).map(({ path, message }) =>
          fail(path, `"${path}" ${message}.`),
        )
      : []),
    ...problemsOfKnowledge(manifest),
    ...problemsOfLicense(manifest),
    ...problemsOfModel(manifest),
  ]
  return { manifest: findings.some(({ severity }) => severity === 'fail') ? null : manifest, findings, dropped }
}

function problemsOfShape(known: Record<string, unknown>): Finding[] {
  const issues = shape.issues(known).map((issue) => ({ ...issue, path: issue.path.split('.') }))
  const { details = [] } = validationError(issues, known)
  return details.map(({ path, message }) => fail(path, message))
}

function problemsOfTools({ tools }: SkillManifest): Finding[] {
  const allowance = newAllowance()
  return tools.flatMap(({ inputSchema, outputSchema }, at) =>
    [
      ...(inputSchema ? problemsOf(inputSchema, `tools[${at}].inputSchema`, allowance) : []),
      ...(outputSchema ? problemsOfResult(outputSchema, `tools[${at}].outputSchema`, allowance) : []),
    ].map(({ path, message }) => fail(path, `"${path}" ${message}.`)),
  )
}

const problemsOfLicense = ({ license }: SkillManifest): Finding[] =>
  isLicense(license)
    ? []
    : [fail('license', `"license" is ${messageOf(license)}; it must be an SPDX identifier such as MIT or Apache-2.0.`)]

const problemsOfModel = ({ modelPreference }: SkillManifest): Finding[] =>
  modelPreference == null || findEngine(modelPreference)
    ? []
    : [
        fail(
          'modelPreference',
          `"modelPreference" is ${messageOf(modelPreference)}, which is not an engine. GET /models lists them.`,
        ),
      ]

function problemsOfKnowledge({ knowledge, knowledgeFiles }: SkillManifest): Finding[] {
  const chars = Object.values(knowledgeFiles).reduce((sum, text) => sum + charactersIn(text), 0)
  const max = MANIFEST_LIMITS.knowledgeChars
  return [
    ...(chars > max
      ? [fail('knowledgeFiles', `"knowledgeFiles" has ${chars} characters; at most ${max} are allowed.`)]
      : []),
    ...Object.keys(knowledgeFiles)
      .filter((path) => !knowledge.includes(path))
      .map((path) =>
        fail('knowledgeFiles', `"knowledgeFiles" has a file that is not in "knowledge": ${beginningOf(path, 80)}.`),
      ),
    ...knowledge
      .filter((path) => !Object.hasOwn(knowledgeFiles, path))
      .map((path) =>
        warn('knowledge', `"${beginningOf(path, 80)}" has no text in "knowledgeFiles", so it cannot be quoted.`),
      ),
  ]
}
