import type { Disposable } from '../../../../base/disposable.ts';
import type { ParamsOf, ResultOf } from '../../protocol/methods.ts';
import type { FileMethod } from './fileMethods.ts';

/** Who does file calls: this process, or a worker. */
export interface FileExecutor {
  call<M extends FileMethod>(method: M, params: ParamsOf<M>): Promise<ResultOf<M>>;
  endWatch(): Promise<void>;
  /** As long as something is open there. */
  hold(): Disposable;
}
