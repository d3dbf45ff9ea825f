import type { ErrorObject } from 'ajv/dist/2020'
import { quoted } from '../../kernel/errors'

/** The most specific error as a sentence for the engine: path (`items[3].name`) and rule. */
export function explain(errors: readonly ErrorObject[]): string {
  const deepest = errors.toSorted((a, b) => depth(b) - depth(a))[0]
  if (!deepest) return 'The arguments do not fit the input_schema.'
  return `${whereOf(deepest)} ${ruleOf(deepest)}.`
}

const depth = ({ instancePath }: ErrorObject): number => instancePath.split('/').length

function whereOf({ instancePath, keyword }: ErrorObject): string {
  if (instancePath === '') return keyword === 'type' ? 'The arguments' : 'The arguments together'
  const steps = instancePath
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const path = steps.map((step, at) => (/^\d+$/.test(step) ? `[${step}]` : `${at ? '.' : ''}${step}`)).join('')
  return `"${quoted(path)}"`
}

function ruleOf({ keyword, params, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return `must have "${quoted(params.missingProperty)}" (required)`
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return `must not have "${quoted(params.additionalProperty ?? params.unevaluatedProperty)}" (${keyword})`
    case 'enum':
      return `must be one of ${quoted(params.allowedValues)} (enum)`
    case 'const':
      return `must be ${quoted(params.allowedValue)} (const)`
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`
    case 'maxLength':
      return `must have at most ${params.limit} characters`
    case 'minItems':
      return params.limit === 1 ? 'must not be an empty list' : `must have at least ${params.limit} entries`
    case 'maxItems':
      return params.limit === 1 ? 'must have at most one entry' : `must have at most ${params.limit} entries`
    case 'uniqueItems':
      return 'must not have duplicate entries (uniqueItems)'
    default:
      return `${message ?? 'does not fit'} (${keyword})`
  }
}
