import { defineError, invalidInput } from '../kernel/errors'
import { GRAPH_LIMITS } from './schema'

export const nothingToChange = () =>
  invalidInput('', 'The body changes nothing. Send at least one of name, description, graph_json and is_public.')

export const graphTooLarge = (bytes: number) =>
  invalidInput(
    'graph_json',
    `"graph_json" has ${bytes} bytes as JSON; at most ${GRAPH_LIMITS.bytes} are allowed. Move long texts into knowledge files.`,
  )

export const blankMessage = () =>
  invalidInput('message', '"message" holds nothing but blanks. Say what the canvas should answer.')

export const orgMissing = () =>
  invalidInput(
    'target_org_id',
    '"target_org_id" is missing; "visibility": "org" needs to know whose members may use it.',
  )

export const versionNotFound = defineError(
  'missing',
  'not_found',
  () => 'No version with this id of this canvas. GET /evi/canvases/{id}/versions lists them.',
)
