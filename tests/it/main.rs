mod resource_server;
