import { AppError, defineErrors } from '../kernel/errors'

export const fileErrors = {
  ...defineErrors('conflict', {
    tooManyFiles: (max: number) =>
      `This account has ${max} files, which is the maximum. Delete some with DELETE /artifacts/{id}.`,
    tooManyBytes: (maxMb: number) =>
      `With this file the account would store more than ${maxMb} MB. Delete some files with DELETE /artifacts/{id}.`,
  }),
  ...defineErrors('not_found', {
    /** 404: a single message for links that are invalid, expired, or whose file is deleted. */
    noSuchLink: 'This link has no file. Links work for one hour; read the artifact again for a new one.',
  }),
  ...defineErrors('storage_unavailable', {
    /** 503: the row exists and the bytes do not, for example on a node that does not share the folder. */
    bytesAway: 'This server cannot read the file now. Its operator can find the reason in the log.',
  }),
}

/** For the log of the operator. */
export const notHere = (id: string) =>
  new Error(`${id} is not in the file storage of this node: all nodes must share one SVC_FILES_DIR or a bucket`)

export const notStored = (cause: unknown): AppError =>
  new AppError(
    'storage_unavailable',
    'The file could not be stored right now. Nothing was stored or charged; try again shortly.',
    { cause },
  )
