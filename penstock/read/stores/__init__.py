"""Object stores (Amazon's S3, Google's and Azure's) and web servers, through the library obstore.

The native library asks for bytes of objects (native/read/requests.h), and a thread here (`server`), which is started
when the first address comes, has them fetched. `listing` says what lies in a folder.
"""
