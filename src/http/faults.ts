import { AppError } from '../kernel/errors'
import { errorFields, type Log } from '../kernel/log'
import { SchemaRefusal, type Standard, type TSchema } from '../kernel/schema'
import { validationError } from '../kernel/validation'
import { payloadTooLarge } from './intake'

type SchemaFailure = { type: string; validator: Standard<TSchema> | { schema: Standard<TSchema> }; value: unknown }

type Routes = {
  /** The methods that a path accepts. */
  methodsOf(path: string): string[]
  /** Suggests a path to call instead of one that does not exist. */
  insteadOf?(path: string): string | null
}

/** Maps any thrown value to an error of docs/api.md 1.5. Used by the tenant API and the operator API. */
export function toAppError(code: unknown, error: unknown, path: string, routes: Routes): AppError {
  if (error instanceof AppError) return error
  const cause = (error as { cause?: unknown }).cause
  if (cause instanceof AppError) return cause
  if (code === 'NOT_FOUND') return unknownRoute(path, routes)
  // The framework reports everything thrown while a body is read as PARSE, even errors unrelated to the body.
  if (
    code === 'PARSE' &&
    (cause === undefined || cause instanceof SyntaxError || (cause as { name?: string }).name === 'AbortError')
  ) {
    return new AppError('validation_error', 'The body is not valid JSON.')
  }
  if (error instanceof SchemaRefusal) return validationError(error.issues, error.value)
  if (code === 'VALIDATION') return fromSchema(error as SchemaFailure)
  if ((error as Error).name === 'PayloadTooLarge') return payloadTooLarge()
  return new AppError('server_error', 'Something went wrong on our side. Nothing more was done; try again.', {
    cause: code === 'PARSE' ? cause : error,
  })
}

/** Logs an internal fault, and the cause of a 503. The answer itself does not contain the cause. */
export function logFault(log: Log, requestId: string, known: AppError, error: unknown): void {
  const isFault = known.kind === 'broken'
  if (!isFault && (known.kind !== 'unavailable' || !known.cause)) return
  // Computed only now, because the text of a stack is costly and most rejections need none.
  const fields = { request_id: requestId, ...errorFields(known.cause ?? error) }
  if (isFault) log.error(fields, 'fault')
  else log.warn(fields, known.code)
}

/** A malformed id in the path is answered like an id that does not exist (docs/api.md 1.5). */
function fromSchema({ type, validator, value }: SchemaFailure): AppError {
  if (type === 'params') return new AppError('not_found', 'No resource with this id.')
  // Validates again, because the framework's error no longer has the paths and the limits.
  const standard = '~standard' in validator ? validator : validator.schema
  const result = standard['~standard'].validate(value)
  return validationError('issues' in result ? result.issues : [], value)
}

function unknownRoute(path: string, routes: Routes): AppError {
  const methods = routes.methodsOf(path)
  const instead = routes.insteadOf?.(path)
  if (!methods.length || instead)
    return new AppError('not_found', `No route ${path.slice(0, 120)} on this server.${instead ? ` ${instead}` : ''}`)
  const allow = methods.join(', ')
  return new AppError('method_not_allowed', `This address answers ${allow}.`, { headers: { allow } })
}
