import { defineError, invalidInput, messageOf } from '../../kernel/errors'
import { GRAPH_LIMITS } from './schema'

export const nothingToChange = () =>
  invalidInput('', 'The body changes nothing. Send at least one of name, description, graph_json and is_public.')

export const graphTooLarge = (bytes: number) =>
  invalidInput(
    'graph_json',
    `"graph_json" has ${bytes} bytes as JSON; at most ${GRAPH_LIMITS.bytes} are allowed. Move long texts into knowledge files.`,
  )

export const blankMessage = () =>
  invalidInput('message', '"message" is empty or blank. Send the text the canvas should answer.')

export const noLicense = (license: string) =>
  invalidInput(
    'license',
    `"license" is ${messageOf(license)}, which is not an SPDX identifier. Use one such as MIT or Apache-2.0, or LicenseRef- and a name you choose.`,
  )

export const changedMeanwhile = defineError(
  'conflict',
  'conflict',
  () => 'The canvas was changed while it was being published, so nothing was published. Publish it again.',
)

export const versionNotFound = defineError(
  'missing',
  'not_found',
  () => 'This canvas has no version with this id. GET /evi/canvases/{id}/versions lists them.',
)
