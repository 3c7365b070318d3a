// Why the database cannot be used, as a code and the one line to show.

export class StorageError extends Error {
  readonly code:
    | 'locked'
    | 'network_filesystem'
    | 'corrupt'
    | 'missing_database'
    | 'secret_key'
    | 'foreign_database'
    | 'newer_schema'
    | 'migration_failed'
    /** Another daemon has taken over what this one had. */
    | 'replaced';

  constructor(code: StorageError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StorageError';
    this.code = code;
  }
}
