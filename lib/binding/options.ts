import type { Request } from 'express';
import type { Multer } from 'multer';
import { aBoolean, aFunction, anInstance, checkOptions, type Rule } from '../options/check';
import { permissionsIn } from '../principal/permissions';
import { principalOf, type Claims } from '../principal/principal';
import { settleLimits, type BindingLimits, type SettledLimits } from './limits';
import { uploadReader, type ReadUpload, type UploadOptions } from './uploads';

export interface BindingOptions {
  /** Whether forms are accepted: not at all (415), multipart, or multipart and urlencoded. Default false. */
  allowFormData?: boolean | { readonly urlEncoded: true };
  /** Whether callers without a principal are accepted; when not, they get 401. Default true. */
  allowAnonymous?: boolean;
  /** The claims of the caller. Default: `req.auth.payload`, else `req.auth`, else `req.user`. */
  claims?: (req: Request) => Claims | undefined;
  /** The permissions of the caller. Default: the `permissions` claim, else the `scope` claim split at spaces. */
  permissions?: (req: Request) => Iterable<string>;
  /** Bounds of what one request may consist of. */
  limits?: BindingLimits;
  /** Where uploaded files go: memory (default), disk, or a Multer of your own. */
  uploads?: UploadOptions | Multer;
}

const rules: Readonly<Record<keyof BindingOptions, Rule>> = {
  allowFormData: { expects: 'true, false or { urlEncoded: true }', accepts: value => typeof value === 'boolean' || (typeof value === 'object' && value !== null && (value as { urlEncoded?: unknown }).urlEncoded === true) },
  allowAnonymous: aBoolean,
  claims: aFunction,
  permissions: aFunction,
  limits: anInstance('an object'),
  uploads: anInstance('{ storage, directory } or a Multer'),
};

/** The options with nothing left open. */
export interface Settings {
  readonly allowMultipart: boolean;
  readonly allowUrlEncoded: boolean;
  readonly allowAnonymous: boolean;
  readonly claims: (req: Request) => Claims | undefined;
  readonly permissions: (req: Request) => Iterable<string>;
  readonly limits: SettledLimits;
  readonly readUpload: ReadUpload;
}

/** @throws TypeError for an unknown option or a value that is none. */
export function settle(options: BindingOptions): Settings {
  checkOptions('bindRequest', options, rules);
  const { allowFormData = false, allowAnonymous = true, claims = principalOf, uploads } = options;
  const limits = settleLimits(options.limits);
  return {
    allowMultipart: allowFormData !== false,
    allowUrlEncoded: typeof allowFormData === 'object',
    allowAnonymous,
    claims,
    permissions: options.permissions ?? (req => permissionsIn(claims(req))),
    limits,
    readUpload: uploadReader(uploads, limits),
  };
}
